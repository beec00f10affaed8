package dev.backfill.operate;

import dev.backfill.BackfillException;
import dev.backfill.internal.BoundedText;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The one state machine of a backfill, automatic or manual (LC-1). Drawn in {@code docs/lifecycle.md}.
 *
 * @since 0.1
 */
public enum BackfillState {
    /** Registered, not started, no bound. */
    PENDING,
    /** Started, open to a claim, subject to a retry delay. */
    RUNNING,
    /** Operator intent: no claims, current work fenced. */
    PAUSED,
    /** A prerequisite or data condition needs an operator. */
    BLOCKED,
    /** Bounded retries exhausted, or validation failed. */
    FAILED,
    /** The checkpoint reached the bound; open to a validation claim. */
    VALIDATING,
    /** Validation succeeded; terminal and immutable (LC-3). */
    COMPLETED;

    /** Every legal move out of this state; sources, documentation and SQL predicates derive from it. */
    public Set<BackfillState> next() {
        return switch (this) {
            case PENDING -> EnumSet.of(RUNNING);
            case RUNNING -> EnumSet.of(PAUSED, BLOCKED, FAILED, VALIDATING);
            case PAUSED, BLOCKED, FAILED -> EnumSet.of(RUNNING, VALIDATING);
            case VALIDATING -> EnumSet.of(PAUSED, COMPLETED, FAILED, BLOCKED);
            case COMPLETED -> EnumSet.noneOf(BackfillState.class);
        };
    }

    /** Every state that may move to this one. */
    public Set<BackfillState> sources() {
        EnumSet<BackfillState> sources = EnumSet.noneOf(BackfillState.class);
        for (BackfillState state : values()) {
            if (state.next().contains(this)) {
                sources.add(state);
            }
        }
        return sources;
    }

    /** Whether a worker may hold a claim in this state. */
    public boolean isWorking() {
        return this == RUNNING || this == VALIDATING;
    }

    /** The name in the database, in the HTTP API and in logs, for instance {@code running}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The state of that wire name.
     *
     * @throws BackfillException if this library does not know the state, for instance because a newer one wrote it (ID-5)
     */
    public static BackfillState ofWireName(String name) {
        for (BackfillState state : values()) {
            if (state.wireName().equals(name)) {
                return state;
            }
        }
        throw new BackfillException("This library does not know the state '" + BoundedText.clean(name, 40)
                + "'; a newer version may have written it. Upgrade this process.");
    }
}
