package dev.backfill.postgres.internal.startup;

import dev.backfill.BackfillException;
import dev.backfill.BackfillOperations;
import dev.backfill.BackfillUnavailableException;
import dev.backfill.BackfillWorker;
import dev.backfill.Backfills;
import dev.backfill.Readiness;
import dev.backfill.postgres.internal.engine.Crew;
import dev.backfill.postgres.internal.engine.Events;
import dev.backfill.postgres.internal.engine.SystemPause;
import dev.backfill.postgres.internal.operator.OperatorPlane;
import dev.backfill.postgres.internal.operator.PlaneContext;
import dev.backfill.postgres.internal.operator.ValidationThreads;
import java.time.Duration;
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
    private static final Duration WHILE_OTHERS_MIGRATE = Duration.ofMillis(200);

    private final Configuration configuration;
    private final SystemPause pause = new SystemPause();
    private final Events events;
    private final Boot boot;
    private final Gatekeeper gatekeeper;
    private final ValidationThreads validations;
    private final OperatorPlane operations;
    private final Thread bootThread;
    private final CountDownLatch firstAttempt = new CountDownLatch(1);
    private final AtomicReference<@Nullable Crew> crew = new AtomicReference<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean started;

    /** Begins to boot; see {@link #startup}. */
    private EngineBackfills(Configuration configuration) {
        this.configuration = configuration;
        this.events = new Events(configuration.listeners(), configuration.processName());
        this.boot = new Boot(configuration, events, this::allBusy);
        this.gatekeeper = new Gatekeeper(boot, configuration.registry().required(), () -> started);
        this.validations = new ValidationThreads(configuration.processName());
        this.operations = new OperatorPlane(configuration.authorizer(), boot::context, validations, events);
        this.bootThread = new Thread(this::boot, "backfill-boot-" + configuration.processName());
        this.bootThread.setDaemon(true);
    }

    /** Starts an engine; returns when the first attempt has ended, or after five seconds. */
    public static EngineBackfills startup(Configuration configuration) {
        EngineBackfills backfills = new EngineBackfills(configuration);
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
        Duration wait = Duration.ofMillis(250);
        String reported = "";
        while (!pause.isClosed()) {
            try {
                if (boot.attempt()) {
                    started();
                    return;
                }
                pause.forAtLeast(WHILE_OTHERS_MIGRATE);
                continue;
            } catch (BackfillException e) {
                // Once for each cause: it is asked again every few seconds for as long as it lasts.
                boolean news = !String.valueOf(e.getMessage()).equals(reported);
                reported = String.valueOf(e.getMessage());
                LOG.atLevel(news ? Level.WARN : Level.DEBUG)
                        .addKeyValue("retry_in_ms", wait.toMillis())
                        .log("Backfill is not started: {}", reported);
            } catch (RuntimeException | LinkageError | AssertionError e) {
                LOG.atError().setCause(e).log("Backfill is not started: an unexpected error");
            }
            firstAttempt.countDown();
            if (!pause.forAtLeast(wait)) {
                return;
            }
            wait = wait.multipliedBy(2).compareTo(Duration.ofSeconds(5)) < 0
                    ? wait.multipliedBy(2)
                    : Duration.ofSeconds(5);
        }
    }

    private void started() {
        Crew workers = new Crew(boot.context().engine(), pause, configuration.processName());
        crew.set(workers);
        if (!closed.get()) {
            workers.start();
        }
        started = true;
        firstAttempt.countDown();
        LOG.atInfo()
                .addKeyValue("definitions", configuration.registry().ids().size())
                .addKeyValue("required", configuration.registry().required().size())
                .addKeyValue("workers", configuration.options().workers())
                .log("Backfill is started");
    }

    private boolean allBusy() {
        Crew workers = crew.get();
        return workers != null && workers.allBusy();
    }

    @Override
    public Readiness readiness() {
        return gatekeeper.readiness();
    }

    @Override
    public BackfillOperations operations() {
        return operations;
    }

    @Override
    public BackfillWorker worker(String name) {
        Crew workers = crew.get();
        if (workers == null) {
            requireStarted();
            throw new BackfillUnavailableException(
                    BackfillUnavailableException.Reason.UNAVAILABLE,
                    "Startup is not complete, so there is no worker yet.",
                    null);
        }
        return workers.worker(name);
    }

    @Override
    public void requireStarted() {
        if (started) {
            return;
        }
        BackfillException problem = boot.problem();
        if (problem != null) {
            throw problem;
        }
        PlaneContext ignored = boot.context();
        throw new BackfillUnavailableException(
                BackfillUnavailableException.Reason.UNAVAILABLE,
                "Startup is not complete yet in schema "
                        + ignored.engine().names().schema() + ".",
                null);
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        pause.close();
        Crew workers = crew.get();
        if (workers != null) {
            operations.flush();
            workers.close();
        }
        validations.close();
        bootThread.interrupt();
        events.close();
    }
}
