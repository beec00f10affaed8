package dev.backfill.postgres.internal.engine;

import dev.backfill.Pacing;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.store.HealthSql;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Measures what a batch costs others, from inside it: WAL, where a limit on it is in force, and sessions that wait for its locks, at
 * most twice a second. WAL is counted by the server's position, so that everybody's writes meanwhile count too: the estimate errs
 * on the side of live traffic. Thread-safe.
 */
public final class BatchMeter {

    private static final long SAMPLE_NANOS = 500_000_000L;
    private static final long FRESH_NANOS = 5_000_000_000L;

    private final AtomicReference<@Nullable Sample> last = new AtomicReference<>();

    /** Nothing measured yet. */
    public BatchMeter() {}

    private record Sample(long waiters, long at) {}

    /** A batch that has begun. */
    final class Running {

        private final Session session;
        private final Pacing pacing;
        private final long started;
        private final @Nullable Long walBefore;
        private long walBytes;

        private Running(Session session, Pacing pacing, long started, @Nullable Long walBefore) {
            this.session = session;
            this.pacing = pacing;
            this.started = started;
            this.walBefore = walBefore;
        }

        /** Measures, after the repair and before the fence, while its locks are held. */
        void repaired() throws SQLException {
            Sample former = last.get();
            if (walBefore == null && former != null && System.nanoTime() - former.at < SAMPLE_NANOS) {
                return;
            }
            HealthSql.Mark mark = HealthSql.mark(session);
            walBytes = walBefore == null ? 0 : mark.walPosition() - walBefore;
            last.set(new Sample(mark.waiters(), System.nanoTime()));
        }

        /** The pacing in force when it began. */
        Pacing pacing() {
            return pacing;
        }

        /** Its time so far. */
        Duration took() {
            return Duration.ofNanos(System.nanoTime() - started);
        }

        /** What it cost so far. */
        Pacer.Cost cost(long scanned) {
            return new Pacer.Cost(took(), scanned, walBytes);
        }
    }

    /** Begins to measure a batch, in its transaction. */
    Running begin(Session session, Pacing pacing, long started) throws SQLException {
        return new Running(
                session,
                pacing,
                started,
                pacing.walBytesPerSecond() == null
                        ? null
                        : HealthSql.mark(session).walPosition());
    }

    /** Sessions that waited for a batch of this engine just now; null when no batch was measured lately. */
    @Nullable
    Long lockWaits() {
        Sample sample = last.get();
        return sample == null || System.nanoTime() - sample.at > FRESH_NANOS ? null : sample.waiters;
    }
}
