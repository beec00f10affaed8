package dev.backfill.postgres.internal.control;

import dev.backfill.Pacing;
import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a pace request asks for, as the ledger keeps it (IK-3). The text begins with its version: a limit that is added to
 * {@link Pacing} is written only where it is set, so that requests of before keep their identity. Stateless.
 */
final class PaceIdentity {

    private static final String VERSION = "pace/1";

    private PaceIdentity() {}

    /** The identity; null asks for the definition's own pace. */
    static String of(@Nullable Pacing pacing) {
        if (pacing == null) {
            return VERSION + " own";
        }
        Duration target = pacing.targetBatchTime();
        return VERSION
                + part("pause_ratio", pacing.pauseRatio())
                + part("rows_per_second", pacing.rowsPerSecond())
                + part("wal_bytes_per_second", pacing.walBytesPerSecond())
                + part("target_batch_millis", target == null ? null : target.toMillis());
    }

    private static String part(String name, @Nullable Number value) {
        return value == null ? "" : " " + name + "=" + value;
    }

    /** Whether an earlier request asked for this pace. */
    static boolean isOf(Stored earlier, @Nullable Pacing pacing) {
        if (earlier.parameters() != null) {
            return earlier.parameters().equals(of(pacing));
        }
        // Requests that were stored before there was a text of their own are told by the sentence that stood in its
        // place.
        Diagnostic sentence = earlier.diagnostic();
        return sentence != null && sentence.message().equals(unversioned(pacing));
    }

    private static String unversioned(@Nullable Pacing pacing) {
        return pacing == null
                ? "the definition's own"
                : "Pacing[pauseRatio=" + pacing.pauseRatio() + ", rowsPerSecond=" + pacing.rowsPerSecond()
                        + ", walBytesPerSecond=" + pacing.walBytesPerSecond() + ", targetBatchTime="
                        + pacing.targetBatchTime() + "]";
    }
}
