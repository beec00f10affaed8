package dev.backfill.postgres.protocol;

import dev.backfill.postgres.protocol.World.Db;
import dev.backfill.postgres.protocol.World.Judged;
import dev.backfill.postgres.protocol.World.Left;
import dev.backfill.postgres.protocol.World.Phase;
import dev.backfill.postgres.protocol.World.Scope;
import dev.backfill.postgres.protocol.World.State;
import dev.backfill.postgres.protocol.World.Worker;
import dev.backfill.postgres.protocol.World.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What can happen next: each step is a transaction of the engine, an operator's, an accident, or something that is said. */
final class Protocol {

    private final Set<ProtocolGuard> off;

    /** The protocol without some of its guards. */
    Protocol(Set<ProtocolGuard> off) {
        this.off = off;
    }

    private boolean on(ProtocolGuard guard) {
        return !off.contains(guard);
    }

    /** Whether a guard lets something pass. */
    private boolean passes(ProtocolGuard guard, boolean holds) {
        return holds || off.contains(guard);
    }

    List<Step> next(World world) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < world.workers().size(); i++) {
            worker(world, i, steps);
        }
        operator(world, steps);
        accidents(world, steps);
        if (world.scope() == Scope.WORDS) {
            told(world, steps);
        }
        return steps;
    }

    private void worker(World world, int i, List<Step> steps) {
        Worker worker = world.workers().get(i);
        switch (worker.phase()) {
            case IDLE -> claim(world, i, steps);
            case HOLDS -> {
                begin(world, i, worker, steps);
                validate(world, i, worker, steps);
            }
            case IN_BATCH -> commit(world, i, worker, steps);
            case UNKNOWN -> settle(world, i, worker, steps);
            case JUDGED -> complete(world, i, worker, steps);
        }
    }

    private void claim(World world, int i, List<Step> steps) {
        Db db = world.db();
        boolean open = db.state() == State.RUNNING || db.state() == State.VALIDATING;
        boolean free = db.token() == 0 || db.expired();
        if (!open || !world.left().has(Left.CLAIM) || !passes(ProtocolGuard.CLAIM_FREE, free)) {
            return;
        }
        Left left = world.left();
        int token = 10 - left.times().get(Left.CLAIM);
        Worker holds = new Worker(Phase.HOLDS, token, db.generation() + 1, db.checkpoint(), false, world.history());
        World after = world.committed(db.moved(db.state(), db.generation() + 1, token))
                .with(i, holds);
        steps.add(new Step(
                i + " claims", after.with(left.less(Left.CLAIM)), free ? null : "a live claim was taken over (CL-1)"));
    }

    /** Look and window: the gate is open where the row is the worker's; what it repairs is seen by nobody yet. */
    private void begin(World world, int i, Worker worker, List<Step> steps) {
        Db db = world.db();
        boolean mine = db.state() == State.RUNNING
                && db.generation() == worker.generation()
                && db.token() == worker.token()
                && !db.expired();
        if (!mine || worker.checkpoint() >= World.ROWS) {
            if (worker.checkpoint() < World.ROWS) {
                steps.add(new Step(i + " finds that the claim is not its own", world.with(i, Worker.IDLE), null));
            }
            return;
        }
        if (passes(ProtocolGuard.BATCH_BARRIER, world.writer() != Writer.OPEN)) {
            boolean wrote = world.sees(worker.checkpoint());
            Worker batch = new Worker(
                    Phase.IN_BATCH, worker.token(), worker.generation(), worker.checkpoint(), wrote, world.history());
            steps.add(new Step(i + " opens a batch", world.with(i, batch), null));
        }
    }

    /** Fence and COMMIT: the answer may get lost, whatever became of it. */
    private void commit(World world, int i, Worker worker, List<Step> steps) {
        if (worker.history() != world.history()) {
            // The server that held the transaction is gone, and the worker can't know whether it had committed.
            steps.add(new Step(i + " loses the connection", world.with(i, worker.in(Phase.UNKNOWN)), null));
            return;
        }
        Db db = world.db();
        boolean passes = passes(ProtocolGuard.FENCE_STATE, db.state() == State.RUNNING)
                && passes(ProtocolGuard.FENCE_GENERATION, db.generation() == worker.generation())
                && passes(ProtocolGuard.FENCE_TOKEN, db.token() == worker.token())
                && passes(ProtocolGuard.FENCE_LEASE, !db.expired())
                && passes(ProtocolGuard.FENCE_CHECKPOINT, db.checkpoint() == worker.checkpoint());
        if (!passes) {
            steps.add(new Step(i + " is refused by the fence", world.with(i, Worker.IDLE), null));
            return;
        }
        int to = worker.checkpoint() + 1;
        Db next = (worker.wrote() ? db.repaired(worker.checkpoint()) : db).advanced(to);
        boolean owner = db.token() == worker.token() && !db.expired();
        String breach = owner ? null : "a batch was committed by one who does not hold the claim (CL-2)";
        Worker done = new Worker(Phase.HOLDS, worker.token(), worker.generation(), to, false, world.history());
        steps.add(new Step(i + " commits a batch", world.committed(next).with(i, done), breach));
        if (world.left().has(Left.LOST_ANSWER)) {
            World lost =
                    world.with(i, worker.in(Phase.UNKNOWN)).with(world.left().less(Left.LOST_ANSWER));
            steps.add(new Step(i + " commits a batch, and the answer is lost", lost.committed(next), breach));
            steps.add(new Step(i + " loses the connection before COMMIT", lost, null));
        }
    }

    /** The row, claimed anew by the same token, says what became of the batch. */
    private void settle(World world, int i, Worker worker, List<Step> steps) {
        Db db = world.db();
        boolean mine = db.generation() == worker.generation() && db.token() == worker.token();
        if (!passes(ProtocolGuard.SETTLEMENT_TOKEN, mine)
                || db.state() == State.COMPLETED
                || db.state() == State.PAUSED) {
            steps.add(new Step(i + " was superseded", world.with(i, Worker.IDLE), null));
            return;
        }
        boolean landed = on(ProtocolGuard.SETTLEMENT_ROW)
                ? db.checkpoint() == worker.checkpoint() + 1
                : db.checkpoint() != worker.checkpoint();
        boolean isThere = db.checkpoint() == worker.checkpoint() + 1;
        String breach = !mine
                ? "a claim that is not the worker's was taken from its owner (CL-1)"
                : landed && !isThere ? "a batch that is not there was announced as landed (AT-3)" : null;
        Worker anew =
                new Worker(Phase.HOLDS, worker.token(), db.generation() + 1, db.checkpoint(), false, world.history());
        World after = world.committed(db.moved(db.state(), db.generation() + 1, worker.token()));
        steps.add(new Step(i + (landed ? " settles: landed" : " settles: rolled back"), after.with(i, anew), breach));
    }

    private void validate(World world, int i, Worker worker, List<Step> steps) {
        Db db = world.db();
        if (db.state() == State.VALIDATING && holds(world)) {
            steps.add(new Step(i + " validates", world.with(i, worker.in(Phase.JUDGED)), null));
        }
    }

    /** What the proof sees: no visible row is unrepaired. */
    private boolean holds(World world) {
        if (world.writer() == Writer.OPEN) {
            return false;
        }
        return (!world.sees(0) || world.db().hits(0) > 0) && world.db().hits(1) > 0;
    }

    private void complete(World world, int i, Worker worker, List<Step> steps) {
        Db db = world.db();
        boolean passes = passes(ProtocolGuard.COMPLETION_STATE, db.state() == State.VALIDATING)
                && passes(ProtocolGuard.COMPLETION_WORK, db.checkpoint() == World.ROWS)
                && db.generation() == worker.generation()
                && passes(ProtocolGuard.COMPLETION_TOKEN, db.token() == worker.token())
                && passes(ProtocolGuard.COMPLETION_LEASE, !db.expired());
        World idle = world.with(i, Worker.IDLE);
        if (!passes) {
            steps.add(new Step(i + " may not complete", idle, null));
            return;
        }
        boolean owner = db.token() == worker.token() && !db.expired();
        steps.add(new Step(
                i + " completes",
                idle.committed(db.moved(State.COMPLETED, db.generation() + 1, 0)),
                owner ? null : "a validator that does not hold the claim completed (VA-3)"));
    }

    private void operator(World world, List<Step> steps) {
        Db db = world.db();
        Left left = world.left();
        if (left.has(Left.PAUSE) && (db.state() == State.RUNNING || db.state() == State.VALIDATING)) {
            int generation = db.generation() + (on(ProtocolGuard.PAUSE_GENERATION) ? 1 : 0);
            World paused = world.moved().committed(db.moved(State.PAUSED, generation, 0));
            steps.add(new Step("pause", paused.with(left.less(Left.PAUSE)), null));
        }
        if (db.state() == State.PAUSED) {
            State to = db.checkpoint() == World.ROWS ? State.VALIDATING : State.RUNNING;
            int generation = db.generation() + (on(ProtocolGuard.PAUSE_GENERATION) ? 1 : 0);
            steps.add(new Step("resume", world.moved().committed(db.moved(to, generation, 0)), null));
        }
        explicitValidation(world, steps);
    }

    /** Judges without a claim, and completes by what it judged. */
    private void explicitValidation(World world, List<Step> steps) {
        Db db = world.db();
        Judged judged = world.judged();
        if (judged == null) {
            if (db.state() == State.VALIDATING && holds(world)) {
                steps.add(new Step(
                        "an explicit validation holds",
                        world.judged(new Judged(db.generation(), world.history(), false)),
                        null));
            }
            return;
        }
        boolean generation = db.generation() == judged.generation();
        boolean history = world.history() == judged.history();
        if (db.state() == State.VALIDATING
                && db.checkpoint() == World.ROWS
                && passes(ProtocolGuard.EXPLICIT_GENERATION, generation)
                && passes(ProtocolGuard.EXPLICIT_HISTORY, history)) {
            steps.add(new Step(
                    "the explicit validation completes",
                    world.judged(null).committed(db.moved(State.COMPLETED, db.generation() + 1, 0)),
                    generation && history && !judged.moved()
                            ? null
                            : "what was completed is not what was judged (CL-3)"));
        }
    }

    /** A worker that is killed is one that takes no further step, so that no step of its own stands for it. */
    private void accidents(World world, List<Step> steps) {
        Left left = world.left();
        Db db = world.db();
        if (world.writer() == Writer.OPEN) {
            steps.add(new Step("the old writer commits", world.with(Writer.COMMITTED), null));
            steps.add(new Step("the old writer rolls back", world.with(Writer.GONE), null));
        }
        if (left.has(Left.EXPIRY) && db.token() != 0 && !db.expired()) {
            World lapsed = world.lapsed();
            steps.add(new Step("the lease runs out", lapsed, null));
        }
        for (int to = 0; left.has(Left.FAILOVER) && to < world.past().size(); to++) {
            steps.add(new Step(
                    "a failover loses " + (world.past().size() - to) + " commits", world.failedOver(to), null));
        }
        if (left.has(Left.FAILOVER) && left.has(Left.REPLAY)) {
            steps.add(new Step("a replica follows", world.replicated().with(left.less(Left.REPLAY)), null));
        }
    }

    /** What a process says of the database: readiness, the replica gate, what the barrier waits for. */
    private void told(World world, List<Step> steps) {
        boolean completed = world.db().state() == State.COMPLETED;
        boolean open = completed || (!on(ProtocolGuard.READINESS_ROW) && world.believedOpen());
        if (open != world.believedOpen() || (open && !completed)) {
            steps.add(new Step(
                    "readiness says " + (open ? "open" : "closed"),
                    world.believes(open),
                    open && !completed ? "readiness is open over a backfill that is not completed (CF-2)" : null));
        }
        int lsn = world.db().completed();
        boolean sameHistory = world.replica().history() == lsn / 100;
        if (completed
                && passes(ProtocolGuard.REPLICA_HISTORY, sameHistory)
                && world.replica().db().at() >= lsn % 100) {
            boolean there = world.replica().db().state() == State.COMPLETED;
            if (!there) {
                steps.add(new Step(
                        "the replica gate says yes", world, "a replica that lacks the completion was let in (SC-6)"));
            }
        }
        // After a failover the old transaction is gone; a new one may carry a number that looks older.
        if (!on(ProtocolGuard.BARRIER_HISTORY)
                && world.history() > 0
                && world.writer() == Writer.GONE
                && world.db().checkpoint() == 0) {
            steps.add(new Step(
                    "the start barrier waits", world, "the barrier waits for a transaction of another history (SR-6)"));
        }
    }

    /** What must be so in every state; null where it is. */
    String broken(World world) {
        Db db = world.db();
        for (int row = 0; row < World.ROWS; row++) {
            if (db.hits(row) > 1) {
                return "row " + row + " was repaired twice";
            }
            if (db.hits(row) == 1 && row >= db.checkpoint()) {
                return "row " + row + " was repaired beyond the checkpoint";
            }
        }
        if (db.checkpoint() > 1 && db.hits(1) == 0) {
            return "the checkpoint is past row 1, which was not repaired";
        }
        if (db.checkpoint() > 0 && db.hits(0) == 0 && world.writer() == Writer.COMMITTED) {
            return "the checkpoint is past row 0, which was not repaired";
        }
        return db.state() == State.COMPLETED && db.checkpoint() < World.ROWS ? "completed short of the bound" : null;
    }
}
