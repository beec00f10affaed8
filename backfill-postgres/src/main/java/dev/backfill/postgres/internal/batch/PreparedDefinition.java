package dev.backfill.postgres.internal.batch;

import dev.backfill.BackfillDefinition;
import dev.backfill.CustomRepair;
import dev.backfill.Repair;
import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.KeySql;
import java.time.Duration;

/**
 * A definition with its statements compiled for the table as the catalog had it when its claim was taken. Immutable.
 *
 * @param definition the definition
 * @param key how its key is spelled
 * @param repair how a window is repaired
 * @param begin how a batch begins
 * @param fence how a batch commits
 */
public record PreparedDefinition(
        BackfillDefinition<?> definition, KeySql key, WindowRepair repair, BeginSql begin, FenceSql fence) {

    public static PreparedDefinition of(
            Names names, EngineOptions options, BackfillDefinition<?> definition, TableFacts facts) {
        KeySql key = new KeySql(definition.table(), definition.key());
        WindowRepair repair = repair(definition, key, facts, options.idleInTransactionTimeout());
        return new PreparedDefinition(
                definition,
                key,
                repair,
                new BeginSql(names, options, definition.startBarrier(), key.table(), repair.first()),
                new FenceSql(names, key, options, definition.startBarrier()));
    }

    private static <K> WindowRepair repair(
            BackfillDefinition<K> definition, KeySql key, TableFacts facts, Duration idle) {
        return definition
                .repair()
                .match(
                        update -> new SetWindow(key, update, facts),
                        rows -> new RowWindow(key, definition.table().name(), rows, facts, idle),
                        PreparedDefinition::unsupported,
                        PreparedDefinition::unsupported,
                        custom -> new CustomWindow<>(key, definition, typed(custom), idle));
    }

    private static WindowRepair unsupported(Repair repair) {
        throw new IllegalStateException(
                "a definition can't be built with a " + repair.getClass().getSimpleName());
    }

    @SuppressWarnings("unchecked") // The definition's builder takes a repair for its own key type only.
    private static <K> CustomRepair<K> typed(CustomRepair<?> custom) {
        return (CustomRepair<K>) custom;
    }
}
