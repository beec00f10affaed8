package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.postgres.internal.batch.BeginSql.Begun;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.HealthSql;
import java.sql.SQLException;
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

    /**
     * Measures, after the repair and before the fence, while its locks are held.
     *
     * @return bytes of WAL since the batch began; 0 where no limit on them is in force
     */
    public long walSince(Begun begun, Pacing pacing, Session session) throws SQLException {
        boolean limited = pacing.walBytesPerSecond() != null;
        if (!limited && !isDue()) {
            return 0;
        }
        HealthSql.Mark mark = HealthSql.mark(session);
        last.set(new Sample(mark.waiters(), System.nanoTime()));
        return limited ? mark.walPosition() - begun.walPosition() : 0;
    }

    /** Whether it is time to count the sessions that wait, between a batch's repair and its fence. */
    public boolean isDue() {
        Sample former = last.get();
        return former == null || System.nanoTime() - former.at >= SAMPLE_NANOS;
    }

    /** Sessions that waited for a batch of this engine just now; null when no batch was measured lately. */
    @Nullable
    public Long lockWaits() {
        Sample sample = last.get();
        return sample == null || System.nanoTime() - sample.at > FRESH_NANOS ? null : sample.waiters;
    }
}
