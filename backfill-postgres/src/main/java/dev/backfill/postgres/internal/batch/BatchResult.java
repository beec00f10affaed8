package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What became of one batch's transaction. */
public sealed interface BatchResult {

    /** The one function of these that fits. */
    default <T> T match(
            Function<Committed, T> committed,
            Function<NotMine, T> notMine,
            Function<Barrier, T> barrier,
            Function<Missed, T> missed,
            Function<Failed, T> failed,
            Function<Unknown, T> unknown) {
        if (this instanceof Committed it) {
            return committed.apply(it);
        }
        if (this instanceof NotMine it) {
            return notMine.apply(it);
        }
        if (this instanceof Barrier it) {
            return barrier.apply(it);
        }
        if (this instanceof Missed it) {
            return missed.apply(it);
        }
        return this instanceof Failed it ? failed.apply(it) : unknown.apply((Unknown) this);
    }

    /** Rows and checkpoint are durable. */
    record Committed(BackfillState state, Work work, Pacing pacing, Cost cost) implements BatchResult {}

    /** The row, looked at before any work, was not this claim's any more. */
    record NotMine() implements BatchResult {}

    /** Transactions from before the bound are still open; nothing was done. */
    record Barrier(boolean expired) implements BatchResult {}

    /** A guard of the fence refused; everything was rolled back. */
    record Missed(Work work, Duration took) implements BatchResult {}

    /** It failed before the fence; everything was rolled back. */
    record Failed(Throwable cause) implements BatchResult {}

    /** It failed at the fence or at COMMIT: only the row can say what happened; without {@code work}, what was done as well. */
    record Unknown(SQLException cause, @Nullable Work work) implements BatchResult {}
}
