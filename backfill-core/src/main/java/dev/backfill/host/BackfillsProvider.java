package dev.backfill.host;

import dev.backfill.spi.ConnectionSource;

/**
 * How an engine is found without naming it; implemented once, in {@code backfill-postgres}, and found by
 * {@link java.util.ServiceLoader}. Hosts call {@code PostgresBackfills.on(dataSource)} instead.
 *
 * @since 0.1
 */
public interface BackfillsProvider {
    /** Begins to configure an engine over a source of connections. */
    Backfills.Builder on(ConnectionSource connections);
}
