package dev.backfill.operate;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The one answer to "why is it not moving?".
 *
 * @param reason the kind of obstacle
 * @param detail what exactly, without row values or query text
 * @param since when it began, by PostgreSQL's clock; null where unknown
 * @since 0.1
 */
public record Waiting(
        Reason reason, String detail, @Nullable Instant since) {

    /** The kinds of obstacle. */
    public enum Reason {
        /** The failure policy delays the next claim. */
        RETRY_DELAY,
        /** A claim is held, but it shows no progress yet. */
        CLAIM_HELD,
        /** Nobody has claimed it although anybody may. */
        NO_WORKER,
        /** It is open to a claim, and this process has no definition of it. */
        UNKNOWN_HERE,
        /** Transactions that wrote before the bound was captured are still open (SR-6). */
        START_BARRIER,
        /** Pacing or a health signal slows it. */
        THROTTLED,
        /** Its session waits for a lock of another one. */
        LOCK_WAIT,
        /** A table or column is missing or incompatible. */
        SCHEMA,
        /** Every worker of this process is busy elsewhere. */
        CAPACITY,
        /** The database, the role or the session is read-only, or the server is a standby (CF-10). */
        READ_ONLY;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
