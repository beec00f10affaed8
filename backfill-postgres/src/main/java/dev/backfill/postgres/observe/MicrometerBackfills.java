package dev.backfill.postgres.observe;

import dev.backfill.host.Backfills;
import dev.backfill.operate.Authority;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Metrics of one process (OB-1): counters and timers of what its engine does, from events, and gauges of what the rows say, read from
 * PostgreSQL. Give it to {@link Backfills.Builder#listener} before startup and call {@link #watch} after.
 *
 * <p>Every series exists from the start and labels come from fixed vocabularies, so neither IDs nor errors add any (OB-2). A gauge that
 * can't be read is {@code NaN}, never zero (RM-2). Counters start anew with the process and authorize nothing (OB-3). Thread-safe.
 *
 * @since 0.1
 */
public final class MicrometerBackfills implements BackfillListener {

    private final MeterRegistry registry;
    private final CounterFamily events;
    private final Batches batches;
    private final Claims claims;
    private final Failures failures;
    private final Operators operators;
    private final CounterFamily throttles;
    private final Map<String, Map<String, Timer>> validations;

    private MicrometerBackfills(MeterRegistry registry) {
        this.registry = registry;
        this.events = new CounterFamily(registry, "backfill.events", "Events, by kind", "kind", Vocabularies.KINDS);
        this.batches = Batches.in(registry);
        this.claims = Claims.in(registry);
        this.failures = Failures.in(registry);
        this.operators = new Operators(registry);
        this.throttles = new CounterFamily(
                registry,
                "backfill.throttles",
                "Times that pacing or a health signal began to slow a claim, by signal",
                "signal",
                Vocabularies.SIGNALS);
        this.validations = each(
                Stream.of("engine", "operator"),
                by -> each(Vocabularies.VALIDATION_OUTCOMES.stream(), outcome -> validation(registry, by, outcome)));
    }

    /** Metrics in a registry; one for each engine and registry. */
    public static MicrometerBackfills in(MeterRegistry registry) {
        return new MicrometerBackfills(registry);
    }

    /**
     * Adds the gauges, which read PostgreSQL when they are asked, at most once in two seconds for all of them.
     *
     * @param backfills the started engine
     * @param authority on whose word they read; the host's {@link dev.backfill.spi.OperatorAuthorizer} must allow it
     *     {@link dev.backfill.operate.Authority.Capability#READ}, or they stay {@code NaN}
     */
    public void watch(Backfills backfills, Authority authority) {
        RowGauges.register(registry, backfills, authority);
    }

    @Override
    public void on(BackfillEvent event) {
        events.count(event.kind().wireName());
        switch (event.kind()) {
            case BATCH_ATTEMPTED -> batches.attempted().increment();
            case BATCH_COMMITTED -> batches.committed(event);
            case CLAIMED -> claims.acquired().count("new");
            case TAKEN_OVER -> claims.acquired().count("takeover");
            case FENCED -> claims.lost().count(event.code());
            case STOPPED -> claims.stopped().count(event.code());
            case COMMIT_SETTLED -> claims.settled().count(event.code());
            case THROTTLED -> throttles.count(event.code());
            case UNKNOWN_HERE -> claims.unreadable().count(event.code());
            case RETRY_SCHEDULED -> failures.retried().count(event.code());
            case BLOCKED -> failures.blocked().count(event.code());
            case FAILED -> failures.failed().count(event.code());
            case VALIDATED -> validated(event);
            case OPERATOR_ACTION -> operators.answered(event.code());
            case ACCESS_DENIED -> operators.denied(event.code());
            case DIAGNOSTICS_READ -> operators.read(event.code());
            default -> {
                // Counted by its kind.
            }
        }
    }

    private void validated(BackfillEvent event) {
        // A request ID is what tells an operator's validation from the worker's own.
        Map<String, Timer> byOutcome = validations.get(event.requestId() == null ? "engine" : "operator");
        Timer timer = byOutcome == null || event.code() == null ? null : byOutcome.get(event.code());
        if (timer != null && event.took() != null) {
            timer.record(event.took());
        }
    }

    private static Timer validation(MeterRegistry registry, String by, String outcome) {
        return Timer.builder("backfill.validation.duration")
                .description("Validations that ran, and how long they took")
                .tag("by", by)
                .tag("outcome", outcome)
                .register(registry);
    }

    private static <T> Map<String, T> each(Stream<String> names, Function<String, T> make) {
        return names.collect(Collectors.toUnmodifiableMap(Function.identity(), make));
    }

    private record Batches(Counter attempted, Counter committed, Counter scanned, Counter changed, Timer duration) {

        static Batches in(MeterRegistry registry) {
            return new Batches(
                    counter(registry, "backfill.batches.attempted", "Batches begun"),
                    counter(registry, "backfill.batches", "Batches committed with their checkpoint"),
                    counter(registry, "backfill.rows.scanned", "Keys scanned by committed batches"),
                    counter(registry, "backfill.rows.changed", "Rows changed by committed batches"),
                    Timer.builder("backfill.batch.duration")
                            .description(
                                    "Transactions of committed batches; one whose COMMIT had to be settled has no time")
                            .register(registry));
        }

        private static Counter counter(MeterRegistry registry, String name, String description) {
            return Counter.builder(name).description(description).register(registry);
        }

        void committed(BackfillEvent event) {
            committed.increment();
            scanned.increment((double) event.rowsScanned());
            changed.increment((double) event.rowsChanged());
            if (event.took() != null) {
                duration.record(event.took());
            }
        }
    }

    private record Claims(
            CounterFamily acquired,
            CounterFamily lost,
            CounterFamily stopped,
            CounterFamily settled,
            CounterFamily unreadable) {

        static Claims in(MeterRegistry registry) {
            return new Claims(
                    new CounterFamily(
                            registry,
                            "backfill.claims.acquired",
                            "Claims acquired, new or taken over from an owner that stopped renewing",
                            "how",
                            List.of("new", "takeover")),
                    new CounterFamily(
                            registry,
                            "backfill.claims.lost",
                            "Work of a stale owner rejected, by the guard that did it",
                            "guard",
                            Vocabularies.GUARDS),
                    new CounterFamily(
                            registry,
                            "backfill.claims.stopped",
                            "Work ended because an operator moved the backfill on, by the state it is in now",
                            "state",
                            Vocabularies.STATES_AFTER_STOP),
                    new CounterFamily(
                            registry,
                            "backfill.commits.settled",
                            "Unknown outcomes of COMMIT, by what the row said",
                            "verdict",
                            Vocabularies.VERDICTS),
                    new CounterFamily(
                            registry,
                            "backfill.unreadable",
                            "Claimable backfills that this process leaves alone, by why; counted when that changes",
                            "why",
                            Vocabularies.UNREADABLE));
        }
    }

    private record Failures(CounterFamily retried, CounterFamily blocked, CounterFamily failed) {

        static Failures in(MeterRegistry registry) {
            return new Failures(
                    family(
                            registry,
                            "backfill.retries",
                            "Attempts that failed and are tried again, by diagnostic code"),
                    family(registry, "backfill.blocked", "Entries into blocked, by diagnostic code"),
                    family(registry, "backfill.failed", "Entries into failed, by diagnostic code"));
        }

        private static CounterFamily family(MeterRegistry registry, String name, String description) {
            return new CounterFamily(registry, name, description, "code", Vocabularies.CODES);
        }
    }
}
