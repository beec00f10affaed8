package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.postgres.internal.row.Registry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one way to run a definition's code (BB-2). PostgreSQL ends a transaction that takes too long, but nobody can end a loop in Java:
 * after its deadline the thread is interrupted; if the code does not heed that within its grace, what it works with is taken away, the
 * thread counts as stuck in that code, and the caller's overrun says what follows. Until the thread has come back no other one is sent
 * into the same code, or one after another would be lost in it. Thread-safe.
 */
public final class Supervisor implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final Registry registry;
    private final ScheduledThreadPoolExecutor clock;
    private final ThreadPoolExecutor threads;
    // How many threads, by whose code it is.
    private final Map<BackfillId, Integer> stuck = new ConcurrentHashMap<>();

    /** Threads carry the process's name; there is none until one is needed. */
    public Supervisor(Registry registry, String processName) {
        this.registry = registry;
        this.clock = timer("backfill-deadlines-" + processName);
        AtomicInteger number = new AtomicInteger();
        // Slots are what is bounded; a thread that has given its slot back may still be on its way into the pool.
        this.threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                daemons(() -> "backfill-beside-" + processName + "-" + number.incrementAndGet()));
    }

    /** A timer of one thread, which is there only while something is due; shut down by whoever asked for it. */
    public static ScheduledThreadPoolExecutor timer(String threadName) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons(() -> threadName));
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }

    private static ThreadFactory daemons(Supplier<String> name) {
        return task -> {
            Thread thread = new Thread(task, name.get());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Whose code it is: a family's, for its parts, which run one code. */
    BackfillId codeOf(BackfillId id) {
        return registry.find(id.value())
                .flatMap(BackfillDefinition::part)
                .map(Family.Part::family)
                .orElse(id);
    }

    /** Whether a thread is stuck in that definition's code. */
    public boolean isStuck(BackfillId id) {
        return stuck.containsKey(codeOf(id));
    }

    /**
     * Runs code on this thread.
     *
     * @throws OverdueException if it was interrupted, whatever it made of that: the server has ended its transaction or is about to
     */
    public <T> T call(BackfillId id, Deadline deadline, Overrun overrun, Callable<T> code) throws Exception {
        return call(new Execution(this, id, deadline, overrun), code);
    }

    private static <T> T call(Execution execution, Callable<T> code) throws Exception {
        execution.begin();
        try {
            T result = code.call();
            if (execution.end()) {
                throw new OverdueException(null);
            }
            return result;
        } catch (OverdueException e) {
            throw e;
        } catch (Exception e) {
            throw execution.end() ? new OverdueException(e) : e;
        } finally {
            execution.end();
        }
    }

    /**
     * Runs code on a thread of its own and waits for it.
     *
     * @throws OverdueException if it was interrupted, or did not come back at all
     * @throws InterruptedException if the caller was; the code is then interrupted and abandoned
     * @throws RejectedExecutionException if the engine is closed
     */
    public <T> T callBeside(BackfillId id, Deadline deadline, Overrun overrun, Callable<T> code) throws Exception {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Execution execution = begin(answer, id, deadline, overrun, code);
        try {
            return answer.get();
        } catch (InterruptedException e) {
            execution.interrupt();
            // Nobody is left who could see whether it heeds the interrupt.
            execution.abandon();
            throw e;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception thrown ? thrown : e;
        }
    }

    /**
     * Runs code on a thread of its own, whether or not its caller goes on waiting.
     *
     * @return its answer, which is there at the latest when its deadline and grace are over
     * @throws RejectedExecutionException if the engine is closed
     */
    public <T> Future<T> beside(BackfillId id, Deadline deadline, Overrun overrun, Callable<T> code) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        begin(answer, id, deadline, overrun, code);
        return answer;
    }

    private <T> Execution begin(
            CompletableFuture<T> answer, BackfillId id, Deadline deadline, Overrun overrun, Callable<T> code) {
        Execution execution = new Execution(this, id, deadline, new Overrun() {
            @Override
            public boolean abandon() {
                return overrun.abandon();
            }

            @Override
            public boolean record() {
                answer.completeExceptionally(new OverdueException(null));
                return overrun.record();
            }
        });
        threads.execute(() -> run(execution, code, answer));
        return execution;
    }

    @SuppressWarnings("checkstyle:IllegalCatch") // Whatever it is, it is the caller's.
    private static <T> void run(Execution execution, Callable<T> code, CompletableFuture<T> answer) {
        try {
            answer.complete(call(execution, code));
        } catch (Exception | Error e) {
            answer.completeExceptionally(e);
        }
    }

    Future<?> after(Duration delay, Runnable task) {
        return clock.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Whether nobody is left to record anything. */
    boolean isClosed() {
        return threads.isShutdown();
    }

    void doesNotComeBack(BackfillId id) {
        stuck.merge(codeOf(id), 1, Integer::sum);
    }

    void cameBack(BackfillId id) {
        stuck.computeIfPresent(codeOf(id), (code, count) -> count == 1 ? null : count - 1);
    }

    void reportStuck(BackfillId id, @Nullable Thread thread) {
        LOG.atError()
                .addKeyValue("backfill", id)
                .addKeyValue("thread", thread == null ? "none" : thread.getName())
                .log(
                        "A definition's code does not come back and does not heed an interrupt; its thread is lost until it"
                                + " does. Restart this process");
    }

    /** Nothing is called beside any more, and what runs so gets an interrupt. Deadlines under way still answer those who wait. */
    @Override
    public void close() {
        threads.shutdownNow();
    }

    /** Waits a moment for the threads of a closed engine, once what they wait for was taken from them. */
    public void awaitThreads() {
        try {
            threads.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
