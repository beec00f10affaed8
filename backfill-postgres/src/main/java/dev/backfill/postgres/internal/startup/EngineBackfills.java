package dev.backfill.postgres.internal.startup;

import dev.backfill.BackfillException;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.internal.control.OperatorPlane;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.internal.supervise.Slots;
import dev.backfill.postgres.internal.supervise.Supervisor;
import dev.backfill.postgres.internal.supervise.SystemPause;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** One started engine: boots on a thread of its own, again and again until it is up, and closes within a bound. Thread-safe. */
public final class EngineBackfills implements Backfills {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final Duration FIRST_ATTEMPT = Duration.ofSeconds(5);
    private static final Duration FIRST_WAIT = Duration.ofMillis(250);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);
    private static final Duration LOOKS_AFTER_ITSELF = Duration.ofSeconds(10);
    private static final Duration WHILE_OTHERS_MIGRATE = Duration.ofMillis(200);
    private static final Duration ABORT_BEFORE_END = Duration.ofSeconds(1);
    private static final int MOST_VALIDATIONS = 2;
    private static final int MOST_REHEARSALS = 2;
    private static final long LEAST_JOIN_MILLIS = 100;

    private final Configuration configuration;
    private final SystemPause pause = new SystemPause();
    private final Events events;
    private final StartupSteps boot;
    private final ReadinessCheck readiness;
    private final Supervisor supervisor;
    private final OperatorPlane operations;
    private final Thread bootThread;
    private final CountDownLatch firstAttempt = new CountDownLatch(1);
    private final AtomicReference<@Nullable WorkerGraph> workers = new AtomicReference<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean started;
    private volatile boolean complete;
    // Confined to the boot thread.
    private String reported = "";
    private boolean lost;

    /** Begins to boot; see {@link #startup}. */
    private EngineBackfills(Configuration configuration, List<Migration> steps) {
        this.configuration = configuration;
        this.events = new Events(configuration.listeners(), configuration.processName());
        this.supervisor = new Supervisor(configuration.registry(), configuration.processName());
        ControlGraph controls = new ControlGraph(
                this::allBusy,
                supervisor,
                new Slots(supervisor, MOST_VALIDATIONS),
                new Slots(supervisor, MOST_REHEARSALS));
        this.boot = new StartupSteps(configuration, steps, events, supervisor, controls);
        this.readiness = new ReadinessCheck(
                new ReadinessLook(boot, configuration.registry(), () -> started), configuration.processName());
        Duration patience = configuration.options().operatorTimeout();
        this.operations = new OperatorPlane(
                configuration.authorizer(), () -> boot.engine(patience).handlers(), events, pause::wakeUp);
        this.bootThread = new Thread(this::boot, "backfill-boot-" + configuration.processName());
        this.bootThread.setDaemon(true);
    }

    /** Starts an engine; returns when the first attempt has ended, or after five seconds. */
    public static EngineBackfills startup(Configuration configuration) {
        return startup(configuration, Migration.ALL);
    }

    /** As {@link #startup(Configuration)}, as a library with these migrations would: an older or a newer one. */
    public static EngineBackfills startup(Configuration configuration, List<Migration> steps) {
        EngineBackfills backfills = new EngineBackfills(configuration, steps);
        backfills.bootThread.start();
        try {
            // A database that answers makes startup look synchronous; one that does not never holds the host up.
            backfills.firstAttempt.await(FIRST_ATTEMPT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return backfills;
    }

    private void boot() {
        Duration wait = FIRST_WAIT;
        while (!pause.isClosed()) {
            Step step = step();
            if (step == Step.MIGRATING_ELSEWHERE) {
                if (!pause.forAtLeast(WHILE_OTHERS_MIGRATE)) {
                    return;
                }
                continue;
            }
            firstAttempt.countDown();
            if (step == Step.DONE) {
                wait = LOOKS_AFTER_ITSELF;
            }
            if (!pause.isClosed()) {
                // What the host's code left behind would end every wait at once.
                Thread.interrupted();
            }
            if (!pause.forAtLeast(wait)) {
                return;
            }
            wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) < 0 ? wait.multipliedBy(2) : LONGEST_WAIT;
            wait = step == Step.DONE ? FIRST_WAIT : wait;
        }
    }

    @SuppressWarnings("checkstyle:IllegalCatch") // Of the host's migrations or sink; startup goes on.
    private Step step() {
        try {
            if (!started || isLost()) {
                if (!boot.attempt()) {
                    return Step.MIGRATING_ELSEWHERE;
                }
                lost = false;
                if (!started) {
                    started();
                }
            }
            // After the workers, whom a backfill that can't be started must not keep from the others.
            startRequired();
            return boot.refused().isEmpty() ? Step.DONE : Step.AGAIN;
        } catch (BackfillException e) {
            // Once for each cause: it is asked again every few seconds for as long as it lasts.
            boolean another = !String.valueOf(e.getMessage()).equals(reported);
            reported = String.valueOf(e.getMessage());
            LOG.atLevel(another ? Level.WARN : Level.DEBUG)
                    .log("Startup of Backfill is not complete and goes on: {}", reported);
        } catch (RuntimeException | Error e) {
            LOG.atError().setCause(Redaction.of(e)).log("Startup of Backfill met an unexpected error and goes on");
        }
        return Step.AGAIN;
    }

    /** Whether a failover or a restore put a history in place in which this process has not started yet (CF-9). */
    private boolean isLost() {
        if (!lost && complete && !boot.isKept()) {
            LOG.atWarn().log("What startup had registered or started is gone from PostgreSQL; it is done again");
            lost = true;
            complete = false;
            boot.promiseAgain();
        }
        return lost;
    }

    private enum Step {
        /** Everything is started. */
        DONE,
        /** Something can't be done yet. */
        AGAIN,
        /** Another process is migrating. */
        MIGRATING_ELSEWHERE
    }

    private void startRequired() {
        try {
            boot.startRequired();
            complete = true;
        } finally {
            // Whatever was started: idle workers need not wait until they look again.
            pause.wakeUp();
        }
    }

    private void started() {
        WorkerGraph graph = new WorkerGraph(engine(), pause);
        workers.set(graph);
        // Before their threads, whose creation may fail: a second pool would have no threads either.
        started = true;
        if (!closed.get()) {
            graph.start();
        }
        LOG.atInfo()
                .addKeyValue("definitions", configuration.registry().ids().size())
                .addKeyValue("required", configuration.registry().required().size())
                .addKeyValue("workers", configuration.options().workers())
                .log("Backfill is started");
    }

    private boolean allBusy() {
        WorkerGraph graph = workers.get();
        return graph != null && graph.allBusy();
    }

    private EngineGraph engine() {
        return boot.engine(configuration.options().operatorTimeout());
    }

    @Override
    public Readiness readiness() {
        return readiness.readiness();
    }

    @Override
    public BackfillOperations operations() {
        return operations;
    }

    @Override
    public BackfillWorker worker(String name) {
        WorkerGraph graph = workers.get();
        if (graph == null) {
            if (!closed.get()) {
                requireStarted();
            }
            throw new BackfillUnavailableException(
                    BackfillUnavailableException.Reason.UNAVAILABLE,
                    closed.get()
                            ? "This engine is closed. Start another one."
                            : "Startup is not complete, so there is no worker yet.",
                    null);
        }
        return graph.worker(name);
    }

    @Override
    public void requireStarted() {
        BackfillException problem = boot.problem();
        if (problem != null) {
            throw problem;
        }
        if (complete) {
            return;
        }
        String schema = engine().names().schema();
        throw new BackfillUnavailableException(
                BackfillUnavailableException.Reason.UNAVAILABLE,
                "Startup is not complete yet in schema " + schema + ".",
                null);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        pause.close();
        bootThread.interrupt();
        long deadline =
                System.nanoTime() + configuration.options().closeTimeout().toNanos();
        CountDownLatch orderly = new CountDownLatch(1);
        Thread closeTimer = closeTimer(orderly);
        closeTimer.start();
        closeWorkers();
        // Whatever it still made while this closed is not started any more, and is closed here.
        join(bootThread, deadline);
        closeWorkers();
        operations.flush();
        supervisor.close();
        readiness.close();
        orderly.countDown();
        boot.abortSessions();
        supervisor.awaitThreads();
        events.close();
        join(closeTimer, deadline);
    }

    /**
     * A server that has fallen silent holds threads up for as long as their sockets wait. Shortly before the close timeout is over
     * their connections are aborted, so that they end too.
     */
    private Thread closeTimer(CountDownLatch orderly) {
        long patience = configuration.options().closeTimeout().toNanos();
        // After the workers were interrupted, so that they can still give their claims back.
        long margin = Math.min(patience / 4, ABORT_BEFORE_END.toNanos());
        Thread thread = new Thread(
                () -> {
                    try {
                        if (!orderly.await(patience - margin, TimeUnit.NANOSECONDS)) {
                            LOG.atWarn().log("Backfill does not close in order; its connections are aborted");
                            boot.abortSessions();
                        }
                    } catch (InterruptedException e) {
                        boot.abortSessions();
                    }
                },
                "backfill-close-" + configuration.processName());
        thread.setDaemon(true);
        return thread;
    }

    private void closeWorkers() {
        WorkerGraph graph = workers.getAndSet(null);
        if (graph != null) {
            graph.close();
        }
    }

    private static void join(Thread thread, long deadline) {
        if (thread == Thread.currentThread()) {
            return;
        }
        try {
            thread.join(Math.max(LEAST_JOIN_MILLIS, (deadline - System.nanoTime()) / 1_000_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
