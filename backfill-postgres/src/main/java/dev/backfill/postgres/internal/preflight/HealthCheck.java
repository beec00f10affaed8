package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillId;
import dev.backfill.TableName;
import dev.backfill.host.HealthLimits;
import dev.backfill.operate.HealthSignal;
import dev.backfill.postgres.internal.batch.BatchMeter;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.HealthSql;
import dev.backfill.spi.HealthProbe;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the database fares, as far as it can be seen. A measurement is shared by the workers of an engine for a moment; what can't be
 * measured is not available and throttles nothing, and is shown as such. Thread-safe.
 */
public final class HealthCheck {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final String NO_ANSWER = "PostgreSQL did not answer the question";

    private final Transactions transactions;
    private final BatchMeter meter;
    private final HealthLimits limits;
    private final Map<BackfillId, Measured> measured = new ConcurrentHashMap<>();

    private record Measured(List<HealthSignal> signals, long at) {}

    /** Measures in those transactions, against those limits. */
    public HealthCheck(Transactions transactions, BatchMeter meter, HealthLimits limits) {
        this.transactions = transactions;
        this.meter = meter;
        this.limits = limits;
    }

    /** The first signal above its limit, from a measurement that is still good. */
    public Optional<HealthSignal> strained(BackfillId id, TableName table) {
        Measured known = measured.get(id);
        if (known == null || System.nanoTime() - known.at >= limits.every().toNanos()) {
            known = new Measured(measure(table), System.nanoTime());
            measured.put(id, known);
        }
        return known.signals.stream()
                .filter(s -> s.status() == HealthSignal.Status.ABOVE_LIMIT)
                .findFirst();
    }

    /** Every signal, measured now. */
    public List<HealthSignal> measure(TableName table) {
        long asked = System.nanoTime();
        double[] borrowed = {-1};
        HealthSql.Server server = null;
        try {
            server = transactions.inTransaction(session -> {
                borrowed[0] = (System.nanoTime() - asked) / 1e9;
                return HealthSql.server(session, table);
            });
        } catch (SQLException e) {
            LOG.atDebug().setCause(Redaction.of(e)).log("The health of the database could not be asked");
        }
        List<HealthSignal> signals = new ArrayList<>();
        signals.add(replicaLag(server));
        signals.add(slots(server));
        signals.add(archiver(server));
        signals.add(vacuums(server));
        signals.add(lockWaits());
        signals.add(pool(borrowed[0]));
        for (HealthProbe probe : limits.probes()) {
            signals.add(own(probe));
        }
        return signals;
    }

    private HealthSignal replicaLag(HealthSql.@Nullable Server server) {
        Double limit = seconds(limits.replicaLag());
        if (server == null) {
            return HealthSignal.notAvailable("replica_lag", limit, "s", NO_ANSWER);
        }
        if (server.standbys() == 0) {
            return HealthSignal.notAvailable("replica_lag", limit, "s", "no standby streams from this server");
        }
        if (server.hidden()) {
            return HealthSignal.notAvailable(
                    "replica_lag", limit, "s", "this role may not see it; grant it pg_read_all_stats");
        }
        return new HealthSignal("replica_lag", server.lag(), limit, "s", "pg_stat_replication.replay_lag");
    }

    private HealthSignal slots(HealthSql.@Nullable Server server) {
        Double limit = number(limits.slotRetentionBytes());
        if (server == null || server.slots() == 0) {
            return HealthSignal.notAvailable(
                    "slot_retention",
                    limit,
                    "bytes",
                    server == null ? NO_ANSWER : "no replication slot holds WAL back");
        }
        return new HealthSignal(
                "slot_retention", server.retained(), limit, "bytes", "pg_replication_slots.restart_lsn");
    }

    private HealthSignal archiver(HealthSql.@Nullable Server server) {
        Double limit = number(limits.archiverBacklog());
        if (server == null || !server.archives() || server.backlog() == null) {
            return HealthSignal.notAvailable(
                    "archiver_backlog",
                    limit,
                    "segments",
                    server == null
                            ? NO_ANSWER
                            : server.archives() ? "nothing was archived so far" : "archive_mode is off");
        }
        return new HealthSignal(
                "archiver_backlog",
                Math.max(0, server.backlog()),
                limit,
                "segments",
                "pg_stat_archiver.last_archived_wal");
    }

    private HealthSignal vacuums(HealthSql.@Nullable Server server) {
        Double limit = number(limits.autovacuums());
        return server == null
                ? HealthSignal.notAvailable("autovacuum", limit, "vacuums", NO_ANSWER)
                : new HealthSignal(
                        "autovacuum", (double) server.vacuums(), limit, "vacuums", "pg_stat_progress_vacuum");
    }

    private HealthSignal lockWaits() {
        Double limit = number(limits.lockWaits());
        Long waiters = meter.lockWaits();
        return waiters == null
                ? HealthSignal.notAvailable("lock_waits_caused", limit, "sessions", "no batch ran here lately")
                : new HealthSignal(
                        "lock_waits_caused", (double) waiters, limit, "sessions", "pg_locks, inside a batch");
    }

    private HealthSignal pool(double borrowed) {
        Double limit = seconds(limits.poolWait());
        return borrowed < 0
                ? HealthSignal.notAvailable("pool_wait", limit, "s", "no connection could be had")
                : new HealthSignal("pool_wait", borrowed, limit, "s", "time to borrow a connection");
    }

    private static HealthSignal own(HealthProbe probe) {
        try {
            return probe.measure();
        } catch (RuntimeException e) {
            LOG.atDebug().setCause(Redaction.of(e)).log("A health probe of the host failed");
            return HealthSignal.notAvailable("host", null, "", "the host's probe failed");
        }
    }

    private static @Nullable Double seconds(@Nullable Duration duration) {
        return duration == null ? null : duration.toNanos() / 1e9;
    }

    private static @Nullable Double number(@Nullable Long value) {
        return value == null ? null : (double) value;
    }
}
