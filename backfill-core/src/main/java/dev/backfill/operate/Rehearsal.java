package dev.backfill.operate;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The report of a rehearsal: real batches at sampled windows, each of them rolled back. Nothing of it happened.
 *
 * @param batchSize keys per window
 * @param samples the windows, in key order; empty for an empty source; one whose code does not come back is the last
 * @param plan how PostgreSQL reads the source for a window, one line per scan
 * @param projection what the whole would come to; null where the rows can't be estimated or no window went through
 * @since 0.1
 */
public record Rehearsal(
        int batchSize,
        List<Sample> samples,
        List<String> plan,
        @Nullable Projection projection) {

    /** Copies the lists. */
    public Rehearsal {
        samples = List.copyOf(samples);
        plan = List.copyOf(plan);
    }

    /**
     * One window.
     *
     * @param position {@code first}, {@code middle} or {@code last}
     * @param scanned keys in it
     * @param wouldChange rows that the repair changed before it was rolled back
     * @param took how long it took
     * @param walBytes WAL written meanwhile, by every session: an upper limit
     * @param locks the table locks it held, for instance {@code RowExclusiveLock on events}
     * @param failure why it failed; null when it went through
     */
    public record Sample(
            String position,
            long scanned,
            long wouldChange,
            Duration took,
            long walBytes,
            List<String> locks,
            @Nullable Diagnostic failure) {

        /** Copies the locks. */
        public Sample {
            locks = List.copyOf(locks);
        }
    }

    /**
     * The whole, from the cheapest to the dearest sampled window.
     *
     * @param rows keys in the source, as the planner estimates them
     * @param changedLow rows that would change, at least
     * @param changedHigh rows that would change, at most
     * @param tookLow time spent in batches, at least
     * @param tookHigh time spent in batches, at most
     * @param walLow WAL bytes, at least
     * @param walHigh WAL bytes, at most
     */
    public record Projection(
            long rows,
            long changedLow,
            long changedHigh,
            Duration tookLow,
            Duration tookHigh,
            long walLow,
            long walHigh) {}

    /**
     * What became of a request to rehearse.
     */
    public sealed interface Outcome {

        /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
        <T> T match(Function<? super Rehearsed, ? extends T> rehearsed, Function<? super Refused, ? extends T> refused);

        /**
         * It ran, and everything was rolled back.
         *
         * @param report what was seen
         */
        record Rehearsed(Rehearsal report) implements Outcome {
            @Override
            public <T> T match(
                    Function<? super Rehearsed, ? extends T> rehearsed,
                    Function<? super Refused, ? extends T> refused) {
                return rehearsed.apply(this);
            }
        }

        /**
         * It did not run.
         *
         * @param conflict why
         */
        record Refused(ActionOutcome.Conflict conflict) implements Outcome {
            @Override
            public <T> T match(
                    Function<? super Rehearsed, ? extends T> rehearsed,
                    Function<? super Refused, ? extends T> refused) {
                return refused.apply(this);
            }
        }
    }
}
