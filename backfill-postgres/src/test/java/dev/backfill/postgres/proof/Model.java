package dev.backfill.postgres.proof;

import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import java.util.Arrays;
import java.util.Set;

/** The contract, executable: one backfill over some rows, two workers, one operator. Says what each step must come to. */
final class Model {

    static final int ROWS = 7;
    static final int BATCH = 3;

    BackfillState state = BackfillState.PENDING;
    long generation;
    int checkpoint;
    /** The generation that holds the claim; 0 for none. */
    long claim;

    boolean expired;
    boolean delayed;
    final int[] hits = new int[ROWS];
    final long[] held = new long[2];
    final boolean[] validates = new boolean[2];

    /** What is planted in the next batch or validation. */
    enum Planted {
        NOTHING,
        ERROR,
        BLOCKED,
        CUT_BEFORE_COMMIT,
        CUT_AFTER_COMMIT
    }

    /** Start, pause, resume or retry; the name of the outcome's type. */
    String perform(BackfillAction action) {
        boolean working = state == BackfillState.RUNNING || state == BackfillState.VALIDATING;
        if (action == BackfillAction.PAUSE ? state == BackfillState.PAUSED : working) {
            return "Converged";
        }
        Set<BackfillState> from = switch (action) {
            case START -> Set.of(BackfillState.PENDING);
            case PAUSE -> Set.of(BackfillState.RUNNING, BackfillState.VALIDATING);
            case RESUME -> Set.of(BackfillState.PAUSED);
            default -> Set.of(BackfillState.BLOCKED, BackfillState.FAILED);
        };
        if (!from.contains(state)) {
            return "Conflict";
        }
        boolean done = checkpoint == ROWS;
        move(
                action == BackfillAction.PAUSE
                        ? BackfillState.PAUSED
                        : done ? BackfillState.VALIDATING : BackfillState.RUNNING);
        delayed = action == BackfillAction.PAUSE && delayed;
        return "Applied";
    }

    private void move(BackfillState to) {
        state = to;
        generation++;
        claim = 0;
        expired = false;
    }

    private boolean lost(int worker, BackfillState expected) {
        return state != expected || claim != held[worker] || expired;
    }

    private String loss(int worker) {
        held[worker] = 0;
        return state == BackfillState.RUNNING || state == BackfillState.VALIDATING ? "Fenced" : "Stopped";
    }

    String step(int worker, Planted planted) {
        if (held[worker] == 0) {
            boolean open = (state == BackfillState.RUNNING || state == BackfillState.VALIDATING)
                    && (claim == 0 || expired)
                    && !delayed;
            if (!open) {
                return "NothingToDo";
            }
            generation++;
            claim = generation;
            expired = false;
            held[worker] = claim;
            validates[worker] = state == BackfillState.VALIDATING;
        }
        return validates[worker] ? validate(worker) : batch(worker, planted);
    }

    private String batch(int worker, Planted planted) {
        if (lost(worker, BackfillState.RUNNING)) {
            return loss(worker);
        }
        switch (planted) {
            case ERROR -> {
                return retry(worker);
            }
            case BLOCKED -> {
                held[worker] = 0;
                move(BackfillState.BLOCKED);
                delayed = false;
                return "Ended";
            }
            case CUT_BEFORE_COMMIT -> {
                generation++;
                return retry(worker);
            }
            default -> {
                int end = Math.min(ROWS, checkpoint + BATCH);
                for (int row = checkpoint; row < end; row++) {
                    hits[row]++;
                }
                checkpoint = end;
                if (planted == Planted.CUT_AFTER_COMMIT) {
                    generation++;
                    claim = generation;
                    held[worker] = claim;
                }
                if (checkpoint == ROWS) {
                    state = BackfillState.VALIDATING;
                    validates[worker] = true;
                }
                return "Committed";
            }
        }
    }

    private String retry(int worker) {
        held[worker] = 0;
        claim = 0;
        expired = false;
        delayed = true;
        return "Retrying";
    }

    private String validate(int worker) {
        if (lost(worker, BackfillState.VALIDATING)) {
            return loss(worker);
        }
        held[worker] = 0;
        claim = 0;
        state = BackfillState.COMPLETED;
        return "Completed";
    }

    /** The operator's own validation. */
    String validate() {
        if (state == BackfillState.PENDING) {
            return "CurrentState";
        }
        boolean holds = checkpoint == ROWS;
        if (holds && state == BackfillState.VALIDATING) {
            move(BackfillState.COMPLETED);
            delayed = false;
        }
        return holds ? "Success" : "Failure";
    }

    void vanish(int worker) {
        held[worker] = 0;
    }

    void release(int worker) {
        if (held[worker] != 0 && claim == held[worker]) {
            claim = 0;
            expired = false;
        }
        held[worker] = 0;
    }

    /** The row and the counters, as {@link ModelIT} reads them from the database. */
    @Override
    public String toString() {
        return state.wireName() + " generation=" + generation + " checkpoint="
                + (checkpoint == 0 ? null : "{" + checkpoint + "}")
                + " claimed=" + (claim != 0) + " hits="
                + Arrays.stream(hits).mapToObj(String::valueOf).reduce("", String::concat);
    }
}
