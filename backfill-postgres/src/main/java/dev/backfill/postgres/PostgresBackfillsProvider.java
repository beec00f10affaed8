package dev.backfill.postgres;

import dev.backfill.host.Backfills;
import dev.backfill.host.BackfillsProvider;
import dev.backfill.spi.ConnectionSource;

/**
 * Lets the testkit find the engine; hosts call {@link PostgresBackfills#on}.
 *
 * @since 0.1
 */
public final class PostgresBackfillsProvider implements BackfillsProvider {

    /** For {@link java.util.ServiceLoader}. */
    public PostgresBackfillsProvider() {}

    @Override
    public Backfills.Builder on(ConnectionSource connections) {
        return PostgresBackfills.on(connections);
    }
}
