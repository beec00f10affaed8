package dev.backfill.operate;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Everything an operator can ask of a backfill; there is no other action (IK-1).
 *
 * @since 0.1
 */
public enum BackfillAction {
    /** Captures the bound and enters {@code running}, atomically. */
    START(EnumSet.of(BackfillState.PENDING), EnumSet.of(BackfillState.RUNNING, BackfillState.VALIDATING)),
    /** Raises the generation, clears the claim and enters {@code paused}, atomically. */
    PAUSE(EnumSet.of(BackfillState.RUNNING, BackfillState.VALIDATING), EnumSet.of(BackfillState.PAUSED)),
    /** Leaves {@code paused} for {@code running}, or for {@code validating} when no admitted work remains. */
    RESUME(EnumSet.of(BackfillState.PAUSED), EnumSet.of(BackfillState.RUNNING, BackfillState.VALIDATING)),
    /** Leaves {@code blocked} or {@code failed}; same bound, same checkpoint; never skips validation. */
    RETRY(
            EnumSet.of(BackfillState.BLOCKED, BackfillState.FAILED),
            EnumSet.of(BackfillState.RUNNING, BackfillState.VALIDATING)),
    /** Runs the read-only validation; diagnostic everywhere but in {@code validating} (EV). */
    VALIDATE(EnumSet.complementOf(EnumSet.of(BackfillState.PENDING)), EnumSet.noneOf(BackfillState.class));

    private final Set<BackfillState> appliesFrom;
    private final Set<BackfillState> convergedOn;

    BackfillAction(Set<BackfillState> appliesFrom, Set<BackfillState> convergedOn) {
        this.appliesFrom = Set.copyOf(appliesFrom);
        this.convergedOn = Set.copyOf(convergedOn);
    }

    /** The states in which this action does something. */
    public Set<BackfillState> appliesFrom() {
        return appliesFrom;
    }

    /** The states in which what the action asks for already holds, so that a repeat changes nothing (LC-4). */
    public Set<BackfillState> convergedOn() {
        return convergedOn;
    }

    /** The actions that do something in a state, in the order of this enum. */
    public static Set<BackfillAction> legalFrom(BackfillState state) {
        EnumSet<BackfillAction> legal = EnumSet.noneOf(BackfillAction.class);
        for (BackfillAction action : values()) {
            if (action.appliesFrom.contains(state)) {
                legal.add(action);
            }
        }
        return legal;
    }

    /** The name in the HTTP API, the audit and logs, for instance {@code start}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The action of that wire name, if there is one. */
    public static Optional<BackfillAction> ofWireName(String name) {
        for (BackfillAction action : values()) {
            if (action.wireName().equals(name)) {
                return Optional.of(action);
            }
        }
        return Optional.empty();
    }
}
