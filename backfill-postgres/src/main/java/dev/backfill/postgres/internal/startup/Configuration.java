package dev.backfill.postgres.internal.startup;

import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.spi.OperatorAuthorizer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a host has asked for, checked.
 *
 * @param connections where connections come from
 * @param registry the definitions and the required set
 * @param mode what to do about the library's tables
 * @param schemaName their schema; null for the first of the search path
 * @param options time limits, workers, retries
 * @param authorizer who is an operator
 * @param sink where audit records go; null for the library's table
 * @param listeners who hears of events
 * @param hostMigrations the host's own schema changes; null for none
 * @param processName the name in claims, logs and threads
 */
public record Configuration(
        ConnectionSource connections,
        Registry registry,
        SchemaMode mode,
        @Nullable String schemaName,
        EngineOptions options,
        OperatorAuthorizer authorizer,
        @Nullable AuditSink sink,
        List<BackfillListener> listeners,
        Backfills.@Nullable HostMigrations hostMigrations,
        String processName) {}
