package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What became of one batch's transaction. */
public sealed interface BatchResult {

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
