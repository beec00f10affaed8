package dev.backfill.postgres.internal.events;

import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One listener and its thread. What throws is reported; what hangs is reported once for each call and loses events when its queue is
 * full. Other listeners and the work never wait for it. Thread-safe.
 */
public final class ListenerThread {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final int QUEUE = 10_000;
    private static final Duration HANGS = Duration.ofSeconds(10);
    private static final long IDLE = Long.MIN_VALUE;

    private final BackfillListener listener;
    private final Duration hangs;
    private final Thread thread;
    private final BlockingQueue<BackfillEvent> queue = new ArrayBlockingQueue<>(QUEUE);
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong busySince = new AtomicLong(IDLE);
    private volatile boolean closing;
    private volatile boolean abandoned;

    ListenerThread(BackfillListener listener, String processName, Duration hangs) {
        this.listener = listener;
        this.hangs = hangs;
        this.thread = new Thread(this::deliver, "backfill-events-" + processName);
        thread.setDaemon(true);
    }

    static ListenerThread start(BackfillListener listener, String processName) {
        return start(listener, processName, HANGS);
    }

    static ListenerThread start(BackfillListener listener, String processName, Duration hangs) {
        ListenerThread made = new ListenerThread(listener, processName, hangs);
        made.thread.start();
        return made;
    }

    /** Queues an event, or loses it; never waits. */
    void offer(BackfillEvent event) {
        if (!queue.offer(event) && lost.incrementAndGet() % 1_000 == 1) {
            LOG.atWarn()
                    .addKeyValue("listener", name())
                    .addKeyValue("lost", lost.get())
                    .log("A backfill listener is too slow; events are lost for it, work goes on");
        }
        long since = busySince.get();
        if (since != IDLE
                && System.nanoTime() - since > hangs.toNanos()
                // Told once for each call: the thread sets it anew for the next one.
                && busySince.compareAndSet(since, IDLE)) {
            LOG.atWarn()
                    .addKeyValue("listener", name())
                    .addKeyValue("queued", queue.size())
                    .log("A backfill listener has not returned for {}; work goes on without it", hangs);
        }
    }

    private void deliver() {
        while (!abandoned) {
            try {
                BackfillEvent event = queue.poll(100, TimeUnit.MILLISECONDS);
                if (event != null) {
                    tell(event);
                } else if (closing) {
                    return;
                }
            } catch (InterruptedException e) {
                // Only end() interrupts: what a hanging listener has not taken by then is lost.
                return;
            }
        }
    }

    @SuppressWarnings(
            "checkstyle:IllegalCatch") // Other languages throw what they like, and nothing may end this thread.
    private void tell(BackfillEvent event) {
        long now = System.nanoTime();
        busySince.set(now == IDLE ? now + 1 : now);
        try {
            listener.on(event);
        } catch (Throwable e) {
            long count = failures.incrementAndGet();
            // The first, and then fewer and fewer: a broken listener fails at every event.
            if (Long.bitCount(count) == 1) {
                LOG.atWarn()
                        .setCause(e)
                        .addKeyValue("event", event.kind().wireName())
                        .addKeyValue("listener", name())
                        .addKeyValue("failures", count)
                        .log("A backfill listener failed; the outcome stands");
            }
        } finally {
            busySince.set(IDLE);
        }
    }

    private @Nullable String name() {
        return listener.getClass().getName();
    }

    /** No more events come. */
    void finish() {
        closing = true;
    }

    /** Waits until the queue is delivered or the deadline has passed, and ends the thread. */
    void end(long deadline) {
        if (thread == Thread.currentThread()) {
            abandoned = true;
            return;
        }
        try {
            thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        abandoned = true;
        thread.interrupt();
    }
}
