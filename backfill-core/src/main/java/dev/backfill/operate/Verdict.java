package dev.backfill.operate;

import java.util.List;
import java.util.Locale;

/**
 * An answer to a question that operators ask before they act, with its reasons. Immutable.
 *
 * @param answer yes, no or cannot tell
 * @param reasons at least one, each with a stable code and a sentence for people
 * @since 0.1
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
