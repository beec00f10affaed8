package dev.backfill.operate;

import dev.backfill.operate.Verdicts.Verdict.Answer;
import dev.backfill.operate.Verdicts.Verdict.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What may be done with a backfill now (RM-4): start it, run the contract migration, remove its code; and how long it will take.
 * Derived from what PostgreSQL said at one moment. Immutable.
 *
 * @since 0.1
 */
public final class Verdicts {

    /** For how long after a registration nobody can tell whether more processes with the definition are about to start. */
    public static final Duration QUIET = Duration.ofMinutes(10);

    private final Verdict mayStart;
    private final Verdict mayContract;
    private final Verdict mayRemoveCode;
    private final @Nullable Duration timeLeft;

    private Verdicts(Verdict mayStart, Verdict mayContract, Verdict mayRemoveCode, @Nullable Duration timeLeft) {
        this.mayStart = mayStart;
        this.mayContract = mayContract;
        this.mayRemoveCode = mayRemoveCode;
        this.timeLeft = timeLeft;
    }

    /**
     * Of one backfill.
     *
     * @param preflight what a start would meet; null where nobody looked
     */
    public static Verdicts of(Evidence evidence, @Nullable Preflight preflight) {
        BackfillSnapshot row = evidence.backfill();
        return new Verdicts(
                start(row, preflight),
                contract(row),
                removal(evidence, row),
                row.state() == BackfillState.COMPLETED
                        ? Duration.ZERO
                        : row.progress().eta());
    }

    /** Of a family: what is not true of one part is not true of the whole. */
    public static Verdicts ofFamily(List<Verdicts> parts) {
        Duration longest = Duration.ZERO;
        for (Verdicts part : parts) {
            if (longest != null) {
                longest = part.timeLeft == null ? null : part.timeLeft.compareTo(longest) > 0 ? part.timeLeft : longest;
            }
        }
        return new Verdicts(
                worst(parts, Verdicts::mayStart),
                worst(parts, Verdicts::mayContract),
                worst(parts, Verdicts::mayRemoveCode),
                longest);
    }

    /** May it be started? */
    public Verdict mayStart() {
        return mayStart;
    }

    /** May the migration run that relies on the repair? */
    public Verdict mayContract() {
        return mayContract;
    }

    /** May its definition be removed from the code? */
    public Verdict mayRemoveCode() {
        return mayRemoveCode;
    }

    /** The work that is left at the rate so far; null where that can't be defended. */
    public @Nullable Duration timeLeft() {
        return timeLeft;
    }

    private static Verdict worst(List<Verdicts> parts, Function<Verdicts, Verdict> question) {
        List<Answer> worstFirst = List.of(Answer.NO, Answer.CANNOT_TELL, Answer.YES);
        return parts.stream()
                .map(question)
                .min(Comparator.comparing(verdict -> worstFirst.indexOf(verdict.answer())))
                .orElseThrow(() -> new IllegalArgumentException("a family has at least one part"));
    }

    private static Verdict start(BackfillSnapshot row, @Nullable Preflight preflight) {
        if (row.state() != BackfillState.PENDING) {
            return Verdict.of(
                    Answer.NO,
                    "already_started",
                    "It is " + row.state().wireName() + ". A backfill is started once, and its end stays.");
        }
        if (!row.knownHere()) {
            return Verdict.of(
                    Answer.CANNOT_TELL,
                    "unknown_here",
                    "This process has no definition of it, or can't read its row. Ask a process of the release that has it.");
        }
        if (preflight == null) {
            return Verdict.of(Answer.CANNOT_TELL, "preflight_unavailable", "Preflight could not be run. Ask again.");
        }
        List<Reason> errors = new ArrayList<>();
        preflight
                .errors()
                .forEach(error ->
                        errors.add(new Reason(error.code().wireName(), error.subject() + ": " + error.message())));
        return errors.isEmpty()
                ? Verdict.of(
                        Answer.YES,
                        "preflight_passed",
                        "Preflight found no error. Only people can tell whether the code that writes new rows correctly is"
                                + " rolled out on every host and old writers are drained.")
                : new Verdict(Answer.NO, errors);
    }

    private static Verdict contract(BackfillSnapshot row) {
        if (row.state() != BackfillState.COMPLETED) {
            return notCompleted(row);
        }
        if (isRejectedSince(row)) {
            return noLongerTrue();
        }
        return row.changedNothing()
                ? Verdict.of(
                        Answer.YES,
                        "changed_nothing",
                        "It is completed and validated, and changed no row. Check that its condition is the intended one.")
                : Verdict.of(Answer.YES, "completed", "It is completed and validated up to its end.");
    }

    private static Verdict removal(Evidence evidence, BackfillSnapshot row) {
        if (row.state() != BackfillState.COMPLETED) {
            return notCompleted(row);
        }
        if (isRejectedSince(row)) {
            return noLongerTrue();
        }
        if (row.required()) {
            return Verdict.of(
                    Answer.NO,
                    "required_here",
                    "This process requires it for readiness. Take it out of the required set first.");
        }
        Instant last = evidence.lastRegisteredAt();
        if (last == null) {
            return Verdict.of(
                    Answer.CANNOT_TELL, "never_registered", "Nothing tells which processes have its definition.");
        }
        // Registrations are remembered to the minute.
        return Duration.between(last, evidence.asOf()).compareTo(QUIET.plusMinutes(1)) < 0
                ? Verdict.of(
                        Answer.CANNOT_TELL,
                        "registered_recently",
                        "A process registered it less than " + QUIET.toMinutes()
                                + " minutes ago, so more of them may be"
                                + " about to start. Ask again once all processes run.")
                : Verdict.of(
                        Answer.YES,
                        "completed_and_quiet",
                        "It is completed, this process does not require it, and no process registered it in the last "
                                + QUIET.toMinutes()
                                + " minutes. Other hosts may require it: look at their required sets.");
    }

    private static boolean isRejectedSince(BackfillSnapshot row) {
        Instant at = row.validation().at();
        Instant completed = row.times().completedAt();
        return row.validation().disposition() == BackfillSnapshot.ValidationDisposition.FAILURE
                && at != null
                && completed != null
                && at.isAfter(completed);
    }

    private static Verdict notCompleted(BackfillSnapshot row) {
        return Verdict.of(
                Answer.NO,
                "not_completed",
                "It is " + row.state().wireName() + ". Rows up to its end may not be repaired yet.");
    }

    private static Verdict noLongerTrue() {
        return Verdict.of(
                Answer.NO,
                "no_longer_true",
                "It completed, but its latest validation rejected what it found. Find out who writes such rows;"
                        + " a new ID repairs them.");
    }

    /**
     * An answer to a question that operators ask before they act, with its reasons. Immutable.
     *
     * @param answer yes, no or cannot tell
     * @param reasons at least one, each with a stable code and a sentence for people
     */
    public record Verdict(Answer answer, List<Reason> reasons) {

        /** Copies the reasons. */
        public Verdict {
            reasons = List.copyOf(reasons);
        }

        static Verdict of(Answer answer, String code, String message) {
            return new Verdict(answer, List.of(new Reason(code, message)));
        }

        /** What may be answered. */
        public enum Answer {
            /** It may. */
            YES,
            /** It may not; the reasons say what has to happen first. */
            NO,
            /** This process can't know; the reasons say who can. */
            CANNOT_TELL;

            /** The name in the HTTP API. */
            public String wireName() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /**
         * Why.
         *
         * @param code one of the vocabulary in {@code docs/operate.md}, or the code of a preflight finding
         * @param message a sentence for people; no row values
         */
        public record Reason(String code, String message) {}
    }
}
