package dev.backfill.postgres.internal.work;

import dev.backfill.host.BackfillWorker;
import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.supervise.SystemPause;
import dev.backfill.postgres.internal.supervise.Watchdog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The worker threads of one engine: each with a name, this owner, and an end (BB-3). Thread-safe. */
public final class WorkerPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final EngineContext engine;
    private final SystemPause pause;
    private final String processName;
    private final Renewer renewer;
    private final Watchdog watchdog;
    private final WorkerParts steppedByOthers;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    /** Makes the threads, without starting them. */
    public WorkerPool(EngineContext engine, SystemPause pause, String processName) {
        this.engine = engine;
        this.pause = pause;
        this.processName = processName;
        this.renewer = new Renewer(engine, processName);
        FailureRecorder recorder = new FailureRecorder(engine, new LostClaimDiagnosis(engine));
        this.watchdog = Watchdog.of(engine, recorder, processName);
        this.steppedByOthers = WorkerParts.of(engine, renewer, pause, Watchdog.blind(engine, recorder));
        WorkerParts parts = WorkerParts.of(engine, renewer, pause, watchdog);
        for (int i = 1; i <= engine.options().workers(); i++) {
            String name = processName + "-" + i;
            Worker worker = new Worker(engine, parts, name);
            workers.add(worker);
            Thread thread = new Thread(() -> run(worker), "backfill-worker-" + name);
            thread.setDaemon(true);
            threads.add(thread);
        }
    }

    /** Starts them. */
    public void start() {
        threads.forEach(Thread::start);
    }

    /** A worker that the caller steps. */
    public Worker worker(String owner) {
        return new Worker(engine, steppedByOthers, owner);
    }

    /** Whether there are workers here and each holds a claim. */
    public boolean allBusy() {
        return !workers.isEmpty() && workers.stream().allMatch(worker -> worker.holds() != null);
    }

    @SuppressWarnings(
            "checkstyle:IllegalCatch") // A thread that ended would be missed by every backfill of this process.
    private void run(Worker worker) {
        String told = "";
        while (!pause.isClosed()) {
            boolean idle = true;
            long news = pause.news();
            try {
                StepOutcome outcome = worker.step();
                idle = !(outcome instanceof StepOutcome.Committed
                        || outcome instanceof StepOutcome.Completed
                        // Narrowed: the smaller window is tried at once, under the same claim.
                        || (outcome instanceof StepOutcome.Retrying && worker.holds() != null));
                // Once for as long as it lasts: it is met again at every poll.
                String obstacle = outcome instanceof StepOutcome.Unavailable unavailable ? unavailable.message() : "";
                if (!obstacle.isEmpty()) {
                    LOG.atLevel(obstacle.equals(told) ? Level.DEBUG : Level.WARN)
                            .log("A step came to nothing: {}", obstacle);
                }
                told = obstacle;
            } catch (RuntimeException | Error e) {
                // The thread goes on: its claim, if there is one, is fenced by its lease, and the attempt is charged.
                worker.forget();
                LOG.atError().setCause(Redaction.of(e)).log("A backfill worker met an unexpected error");
            }
            if (!pause.isClosed()) {
                // A definition may have left its flag set; every wait would end at once (RB-2).
                Thread.interrupted();
            }
            if (idle) {
                pause.forNews(idleWait(worker), news);
            }
        }
        close(worker);
    }

    private Duration idleWait(Worker worker) {
        Duration rest = worker.rest();
        long poll = engine.options().poll().toNanos();
        // Give or take half, or a fleet that booted together asks together for ever.
        long jittered = poll / 2 + ThreadLocalRandom.current().nextLong(poll + 1);
        return rest == null ? Duration.ofNanos(jittered) : Duration.ofNanos(Math.min(rest.toNanos(), jittered));
    }

    private static void close(BackfillWorker worker) {
        try {
            worker.close();
        } catch (RuntimeException e) {
            LOG.atWarn()
                    .setCause(Redaction.of(e))
                    .log("A backfill worker could not be closed; its claim lapses with its lease");
        }
    }

    /**
     * Lets the current steps end. What has not ended after half of the close timeout is interrupted, and has the other half to give
     * its claim back; what still runs then loses it by its lease.
     */
    @Override
    public void close() {
        pause.close();
        long patience = engine.options().closeTimeout().toNanos();
        long began = System.nanoTime();
        boolean interrupted = join(began + patience / 2);
        for (Thread thread : threads) {
            if (thread.isAlive()) {
                thread.interrupt();
                LOG.atWarn().addKeyValue("thread", thread.getName()).log("A backfill worker did not end in time");
            }
        }
        interrupted |= join(began + patience);
        renewer.close();
        watchdog.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the threads; whether this one was interrupted meanwhile. */
    private boolean join(long deadline) {
        boolean interrupted = false;
        for (Thread thread : threads) {
            try {
                thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    @Override
    public String toString() {
        return "workers of " + processName;
    }
}
