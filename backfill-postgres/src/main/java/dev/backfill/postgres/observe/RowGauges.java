package dev.backfill.postgres.observe;

import dev.backfill.BackfillException;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Waiting;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the rows say at this moment, in numbers. One read serves all gauges of a scrape; what can't be read is {@code NaN}, which no
 * dashboard takes for zero (RM-2). Thread-safe.
 */
final class RowGauges {

    private static final long SHARED_FOR = Duration.ofSeconds(2).toNanos();

    private final Backfills backfills;
    private final Authority authority;
    private @Nullable Overview last;
    private boolean asked;
    private long lastAt;

    private RowGauges(Backfills backfills, Authority authority) {
        this.backfills = backfills;
        this.authority = authority;
    }

    static void register(MeterRegistry registry, Backfills backfills, Authority authority) {
        RowGauges rows = new RowGauges(backfills, authority);
        rows.registerCounts(registry);
        rows.registerWhole(registry);
    }

    /** One series for each member of a fixed vocabulary. */
    private void registerCounts(MeterRegistry registry) {
        for (BackfillState state : BackfillState.values()) {
            counting("backfill.backfills", "Backfills, by state", s -> s.state() == state)
                    .tag("state", state.wireName())
                    .register(registry);
        }
        for (Waiting.Reason reason : Waiting.Reason.values()) {
            counting(
                            "backfill.waiting",
                            "Backfills that work and stand still, by why",
                            s -> s.waiting() != null && s.waiting().reason() == reason)
                    .tag("reason", reason.wireName())
                    .register(registry);
        }
        for (ClaimStatus status : new ClaimStatus[] {ClaimStatus.HELD, ClaimStatus.EXPIRED}) {
            counting(
                            "backfill.claims",
                            "Claims, held or expired",
                            s -> s.claim().status() == status)
                    .tag("status", status.wireName())
                    .register(registry);
        }
    }

    /** What is told of all backfills together, and whether anything can be told. */
    private void registerWhole(MeterRegistry registry) {
        gauge("backfill.gate.open", "1 when no required backfill keeps the gate closed", o -> o.isOpen() ? 1 : 0)
                .register(registry);
        gauge(
                        "backfill.required.incomplete",
                        "Required backfills that are not completed",
                        o -> o.closedBy().size())
                .register(registry);
        gauge(
                        "backfill.progress.age",
                        "Time since the running backfill that stands still longest last committed",
                        RowGauges::age)
                .baseUnit("seconds")
                .register(registry);
        Gauge.builder("backfill.database.readable", this, r -> r.overview() == null ? 0 : 1)
                .description("1 when the library's tables could be read just now; 0 makes the other gauges NaN")
                .strongReference(true)
                .register(registry);
        Gauge.builder("backfill.ready", this, r -> r.ready())
                .description("1 when this library's part of readiness is open; NaN when it can't be told")
                .strongReference(true)
                .register(registry);
    }

    private Gauge.Builder<RowGauges> counting(String name, String description, Predicate<BackfillSnapshot> counts) {
        return gauge(
                name, description, o -> o.backfills().stream().filter(counts).count());
    }

    private Gauge.Builder<RowGauges> gauge(String name, String description, ToDoubleFunction<Overview> value) {
        return Gauge.builder(name, this, rows -> {
                    Overview overview = rows.overview();
                    return overview == null ? Double.NaN : value.applyAsDouble(overview);
                })
                .description(description)
                .strongReference(true);
    }

    /** NaN when none runs: there is nothing to be late with. */
    private static double age(Overview overview) {
        return overview.backfills().stream()
                .filter(s -> s.state() == BackfillState.RUNNING)
                .map(s -> s.times().lastProgressAt() == null
                        ? s.times().startedAt()
                        : s.times().lastProgressAt())
                .filter(Objects::nonNull)
                .min(Instant::compareTo)
                .map(oldest -> Duration.between(oldest, overview.asOf()).toMillis() / 1000.0)
                .orElse(Double.NaN);
    }

    private double ready() {
        Readiness readiness = backfills.readiness();
        boolean unknown = readiness.database().status() == Readiness.Status.UNKNOWN
                || readiness.schema().status() == Readiness.Status.UNKNOWN
                || readiness.backfills().status() == Readiness.Status.UNKNOWN;
        return unknown ? Double.NaN : readiness.isOpen() ? 1 : 0;
    }

    private synchronized @Nullable Overview overview() {
        if (!asked || System.nanoTime() - lastAt > SHARED_FOR) {
            last = read();
            asked = true;
            // After the read, so that one that failed slowly is not repeated by the next gauge of the same scrape.
            lastAt = System.nanoTime();
        }
        return last;
    }

    private @Nullable Overview read() {
        try {
            return backfills.operations().list(authority);
        } catch (BackfillException e) {
            // Denied, unavailable, not started: unknown all the same.
            return null;
        }
    }
}
