package dev.backfill.host;

import org.jspecify.annotations.Nullable;

/**
 * What this library contributes to the host's serving decision (CF-6): one of its inputs, never a replacement for the others.
 *
 * @param database whether PostgreSQL can be read
 * @param schema whether the library's tables are there and of a usable version
 * @param backfills whether the required backfills are completed; holds in manual mode (CF-4)
 * @since 0.1
 */
public record Readiness(Input database, Input schema, Input backfills) {

    /** Whether every input holds. Unknown does not (CF-2). */
    public boolean isOpen() {
        return database.ok() && schema.ok() && backfills.ok();
    }

    /**
     * One input.
     *
     * @param status open, closed or unknown
     * @param reason why not open; null when open
     */
    public record Input(Status status, @Nullable String reason) {

        private static final Input OPEN = new Input(Status.OPEN, null);

        /** It holds. */
        public static Input open() {
            return OPEN;
        }

        /** It does not hold. */
        public static Input closed(String reason) {
            return new Input(Status.CLOSED, reason);
        }

        /** It can't be told, which is not ready. */
        public static Input unknown(String reason) {
            return new Input(Status.UNKNOWN, reason);
        }

        /** Whether it holds. */
        public boolean ok() {
            return status == Status.OPEN;
        }
    }

    /** What is known of an input. */
    public enum Status {
        /** It holds. */
        OPEN,
        /** It does not hold. */
        CLOSED,
        /** PostgreSQL could not be asked. */
        UNKNOWN
    }
}
