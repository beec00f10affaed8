package dev.backfill.spring;

import dev.backfill.BackfillDefinition;
import dev.backfill.Family;
import dev.backfill.host.Backfills;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import org.springframework.beans.factory.ObjectProvider;

/**
 * What the application has declared for the engine.
 *
 * @param definitions each a backfill
 * @param families each several backfills
 * @param listeners who hears of events
 * @param audit where audit records go; the library's table if there is none
 * @param customizers the last word
 */
record HostBeans(
        ObjectProvider<BackfillDefinition<?>> definitions,
        ObjectProvider<Family<?>> families,
        ObjectProvider<BackfillListener> listeners,
        ObjectProvider<AuditSink> audit,
        ObjectProvider<BackfillsCustomizer> customizers) {

    void addTo(Backfills.Builder builder) {
        builder.definitions(definitions.orderedStream().toList());
        families.orderedStream().forEach(builder::definitions);
        listeners.orderedStream().forEach(builder::listener);
        audit.ifAvailable(builder::audit);
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    }
}
