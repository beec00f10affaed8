package dev.backfill.operate;

import java.util.Locale;
import java.util.function.Function;

/**
 * What became of an explicit validation: exactly one of success, failure and current state (EV-1), unless it was refused.
 *
 * @since 0.1
 */
public sealed interface ValidationReport {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    <T> T match(
            Function<? super Success, ? extends T> success,
            Function<? super Failure, ? extends T> failure,
            Function<? super CurrentState, ? extends T> currentState,
            Function<? super Refused, ? extends T> refused);

    /**
     * It ran and the postcondition held.
     *
     * @param now the current row
     * @param replayed whether an earlier copy of the request ran it
     */
    record Success(BackfillSnapshot now, boolean replayed) implements ValidationReport {
        @Override
        public <T> T match(
                Function<? super Success, ? extends T> success,
                Function<? super Failure, ? extends T> failure,
                Function<? super CurrentState, ? extends T> currentState,
                Function<? super Refused, ? extends T> refused) {
            return success.apply(this);
        }
    }

    /**
     * It ran and rejected.
     *
     * @param diagnostic why
     * @param now the current row
     * @param replayed whether an earlier copy of the request ran it
     */
    record Failure(Diagnostic diagnostic, BackfillSnapshot now, boolean replayed) implements ValidationReport {
        @Override
        public <T> T match(
                Function<? super Success, ? extends T> success,
                Function<? super Failure, ? extends T> failure,
                Function<? super CurrentState, ? extends T> currentState,
                Function<? super Refused, ? extends T> refused) {
            return failure.apply(this);
        }
    }

    /**
     * It did not run, or has no result yet; implies neither success nor failure. Not final: the same request asks again.
     *
     * @param reason why
     * @param now the current row
     */
    record CurrentState(Reason reason, BackfillSnapshot now) implements ValidationReport {
        @Override
        public <T> T match(
                Function<? super Success, ? extends T> success,
                Function<? super Failure, ? extends T> failure,
                Function<? super CurrentState, ? extends T> currentState,
                Function<? super Refused, ? extends T> refused) {
            return currentState.apply(this);
        }
    }

    /**
     * Refused before anything ran.
     *
     * @param conflict why
     */
    record Refused(ActionOutcome.Conflict conflict) implements ValidationReport {
        @Override
        public <T> T match(
                Function<? super Success, ? extends T> success,
                Function<? super Failure, ? extends T> failure,
                Function<? super CurrentState, ? extends T> currentState,
                Function<? super Refused, ? extends T> refused) {
            return refused.apply(this);
        }
    }

    /** Why there is no result. */
    enum Reason {
        /** The backfill is pending. */
        NOT_STARTED,
        /** Another validation of this ID is under way. */
        ALREADY_RUNNING,
        /** Transactions that wrote before the bound was captured are still open (SR-6). */
        START_BARRIER,
        /** It did not end in time. */
        TIMED_OUT,
        /** This process has no definition of that ID, or can't read its row. */
        UNKNOWN_HERE,
        /** A table or column that the definition needs is missing. */
        INCOMPATIBLE_SCHEMA,
        /** It could not run because of a database error. */
        UNAVAILABLE;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
