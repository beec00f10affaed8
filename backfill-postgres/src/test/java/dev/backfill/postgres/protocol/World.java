package dev.backfill.postgres.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * One state of the model: the database, what a failover could take back, two workers, an explicit validation, a replica, what one
 * process believes, and what may still go wrong. A source of two rows; the first is written by a transaction that was open at the start.
 *
 * @param db the primary, as committed
 * @param past what was committed before, newest last; a failover goes back to one of them
 * @param history which timeline the primary is on
 * @param writer the transaction that had written before the bound was captured
 * @param workers two of them
 * @param judged when an explicit validation held; null for never
 * @param replica what a standby has replayed
 * @param believedOpen what a process remembers of its readiness
 * @param left what may still happen
 * @param scope what is explored
 */
record World(
        Db db,
        List<Db> past,
        int history,
        Writer writer,
        List<Worker> workers,
        Judged judged,
        Replica replica,
        boolean believedOpen,
        Left left,
        Scope scope) {

    static final int ROWS = 2;
    private static final int MAY_BE_LOST = 2;

    enum State {
        RUNNING,
        PAUSED,
        VALIDATING,
        COMPLETED
    }

    enum Writer {
        OPEN,
        COMMITTED,
        GONE
    }

    enum Phase {
        IDLE,
        HOLDS,
        IN_BATCH,
        UNKNOWN,
        JUDGED
    }

    /** The row of the backfill, and how often each source row was repaired. */
    record Db(
            State state,
            int generation,
            int token,
            boolean expired,
            int checkpoint,
            int first,
            int second,
            int at,
            int completed) {

        int hits(int row) {
            return row == 0 ? first : second;
        }

        Db repaired(int row) {
            return new Db(
                    state,
                    generation,
                    token,
                    expired,
                    checkpoint,
                    first + (row == 0 ? 1 : 0),
                    second + (row == 1 ? 1 : 0),
                    at,
                    completed);
        }

        Db moved(State to, int newGeneration, int newToken) {
            return new Db(to, newGeneration, newToken, false, checkpoint, first, second, at, completed);
        }

        Db advanced(int to) {
            State next = to == ROWS ? State.VALIDATING : state;
            return new Db(next, generation, token, false, to, first, second, at, completed);
        }

        Db lapsed() {
            return new Db(state, generation, token, true, checkpoint, first, second, at, completed);
        }

        /** The same at a later position of the log. */
        Db logged(int position, int newCompleted) {
            return new Db(state, generation, token, expired, checkpoint, first, second, position, newCompleted);
        }
    }

    /** What a worker remembers. */
    record Worker(Phase phase, int token, int generation, int checkpoint, boolean wrote, int history) {
        static final Worker IDLE = new Worker(Phase.IDLE, 0, 0, 0, false, 0);

        Worker in(Phase next) {
            return new Worker(next, token, generation, checkpoint, wrote, history);
        }
    }

    /** At which generation of which history a validation held, and whether an operator has moved the row since. */
    record Judged(int generation, int history, boolean moved) {}

    /** A standby: what it has replayed, and of which history. */
    record Replica(Db db, int history) {}

    /** What may still happen, and how often. */
    record Left(List<Integer> times) {
        static final int CLAIM = 0;
        static final int EXPIRY = 1;
        static final int PAUSE = 2;
        static final int LOST_ANSWER = 3;
        static final int FAILOVER = 4;
        static final int REPLAY = 5;

        boolean has(int what) {
            return times.get(what) > 0;
        }

        Left less(int what) {
            List<Integer> changed = new ArrayList<>(times);
            changed.set(what, changed.get(what) - 1);
            return new Left(List.copyOf(changed));
        }
    }

    /** Whether work goes wrong, or what is said of it: both at once are too many states to be worth the wait. */
    enum Scope {
        WORK(2, 1, 1, 1, 1, 0),
        WORDS(2, 0, 1, 0, 1, 1);

        private final List<Integer> times;

        Scope(Integer... times) {
            this.times = List.of(times);
        }
    }

    static World start(Scope scope) {
        Db db = new Db(State.RUNNING, 1, 0, false, 0, 0, 0, 0, -1);
        return new World(
                db,
                List.of(),
                0,
                Writer.OPEN,
                List.of(Worker.IDLE, Worker.IDLE),
                null,
                new Replica(db, 0),
                false,
                new Left(scope.times),
                scope);
    }

    /** Everybody sees it from now on, unless a failover takes it back. */
    World committed(Db next) {
        List<Db> before = new ArrayList<>(past);
        before.add(db);
        if (before.size() > MAY_BE_LOST) {
            before.remove(0);
        }
        boolean completes = next.state() == State.COMPLETED && db.state() != State.COMPLETED;
        Db logged = next.logged(
                scope == Scope.WORK ? 0 : db.at() + 1, completes ? history * 100 + db.at() + 1 : next.completed());
        return new World(
                logged, List.copyOf(before), history, writer, workers, judged, replica, believedOpen, left, scope);
    }

    World with(int index, Worker worker) {
        List<Worker> changed = new ArrayList<>(workers);
        changed.set(index, Objects.requireNonNull(worker));
        return new World(db, past, history, writer, List.copyOf(changed), judged, replica, believedOpen, left, scope);
    }

    World with(Left now) {
        return new World(db, past, history, writer, workers, judged, replica, believedOpen, now, scope);
    }

    World with(Writer now) {
        return new World(db, past, history, now, workers, judged, replica, believedOpen, left, scope);
    }

    World lapsed() {
        return new World(
                db.lapsed(),
                past,
                history,
                writer,
                workers,
                judged,
                replica,
                believedOpen,
                left.less(Left.EXPIRY),
                scope);
    }

    /** An operator has moved the row: what was judged before was another run. */
    World moved() {
        return judged == null ? this : judged(new Judged(judged.generation(), judged.history(), true));
    }

    World judged(Judged when) {
        return new World(db, past, history, writer, workers, when, replica, believedOpen, left, scope);
    }

    World replicated() {
        return new World(
                db, past, history, writer, workers, judged, new Replica(db, history), believedOpen, left, scope);
    }

    World believes(boolean open) {
        return new World(db, past, history, writer, workers, judged, replica, open, left, scope);
    }

    /** A standby that had only so much becomes the primary; transactions under way are gone. */
    World failedOver(int to) {
        Left now = left.less(Left.FAILOVER);
        Writer after = writer == Writer.OPEN ? Writer.GONE : writer;
        return new World(
                past.get(to),
                List.copyOf(past.subList(0, to)),
                history + 1,
                after,
                workers,
                judged,
                replica,
                believedOpen,
                now,
                scope);
    }

    /** Whether a statement sees a row of the source. */
    boolean sees(int row) {
        return row != 0 || writer == Writer.COMMITTED;
    }
}
