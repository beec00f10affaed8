package dev.backfill.postgres.internal.work;

import dev.backfill.host.BackfillWorker;
import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.supervise.SystemPause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The worker threads of one engine: each with a name, this owner, and an end (BB-3). Thread-safe. */
public final class WorkerPool implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final String processName;
    private final EngineOptions options;
    private final SystemPause pause;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    /**
     * Makes the threads, without starting them.
     *
     * @param made makes a worker with a name
     */
    public WorkerPool(String processName, EngineOptions options, SystemPause pause, Function<String, Worker> made) {
        this.processName = processName;
        this.options = options;
        this.pause = pause;
        for (int i = 1; i <= options.workers(); i++) {
            String name = processName + "-" + i;
            Worker worker = made.apply(name);
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

    /** Whether there are workers here and each holds a claim. */
    public boolean allBusy() {
        return !workers.isEmpty() && workers.stream().allMatch(worker -> worker.holds() != null);
    }

    @SuppressWarnings(
            "checkstyle:IllegalCatch") // A thread that ended would be missed by every backfill of this process.
    private void run(Worker worker) {
        String reported = "";
        while (!pause.isClosed()) {
            boolean idle = true;
            long wakeUps = pause.wakeUps();
            try {
                Step step = worker.next();
                idle = !step.atOnce();
                // Once for as long as it lasts: it is met again at every poll.
                String obstacle = step.obstacle() == null ? "" : step.obstacle();
                if (!obstacle.isEmpty()) {
                    LOG.atLevel(obstacle.equals(reported) ? Level.DEBUG : Level.WARN)
                            .log("A step came to nothing: {}", obstacle);
                }
                reported = obstacle;
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
                pause.untilWokenUp(idleWait(worker), wakeUps);
            }
        }
        close(worker);
    }

    private Duration idleWait(Worker worker) {
        Duration rest = worker.rest();
        long poll = options.poll().toNanos();
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
        long patience = options.closeTimeout().toNanos();
        long began = System.nanoTime();
        boolean interrupted = join(began + patience / 2);
        for (Thread thread : threads) {
            if (thread.isAlive()) {
                thread.interrupt();
                LOG.atWarn().addKeyValue("thread", thread.getName()).log("A backfill worker did not end in time");
            }
        }
        interrupted |= join(began + patience);
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
