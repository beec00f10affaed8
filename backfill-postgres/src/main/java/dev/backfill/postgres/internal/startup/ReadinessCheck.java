package dev.backfill.postgres.internal.startup;

import dev.backfill.host.Readiness;
import dev.backfill.host.Readiness.Input;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Readiness for probes (CF-2): answers at once, whatever the pool does, and never throws. One asker at a time looks at PostgreSQL, on a
 * thread of its own; probes come from many places at once and share its answer for a second. Thread-safe.
 */
final class ReadinessCheck implements AutoCloseable {

    private static final long SHARED_FOR = Duration.ofSeconds(1).toNanos();
    // Below the second that a probe of Kubernetes waits by default.
    private static final long LOOK_TAKES = Duration.ofMillis(800).toNanos();
    // A look that hangs must not close the gate of a busy host at once; an answer of before is not believed longer than
    // this.
    private static final long BELIEVED_FOR = Duration.ofSeconds(3).toNanos();

    private final Supplier<Readiness> look;
    private final ScheduledThreadPoolExecutor asker;
    private @Nullable Answer last;
    private @Nullable Asking asking;

    /** Over a look, which may take its time and does not throw. */
    ReadinessCheck(Supplier<Readiness> look, String processName) {
        this.look = look;
        this.asker = Supervisor.timer("backfill-readiness-" + processName);
    }

    /**
     * What a look saw.
     *
     * @param readiness what
     * @param at when, by {@link System#nanoTime}
     */
    private record Answer(Readiness readiness, long at) {}

    /**
     * A look under way.
     *
     * @param answer its answer
     * @param since when it began, by {@link System#nanoTime}
     */
    private record Asking(CompletableFuture<Readiness> answer, long since) {}

    @SuppressWarnings("checkstyle:IllegalCatch") // No thread may be had for the asker, for instance.
    Readiness readiness() {
        try {
            Asking now;
            synchronized (this) {
                if (last != null && System.nanoTime() - last.at < SHARED_FOR) {
                    return last.readiness;
                }
                now = ask();
            }
            return now.answer.get(Math.max(0, LOOK_TAKES - (System.nanoTime() - now.since)), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return unanswered("Whoever asked was interrupted.");
        } catch (TimeoutException e) {
            return unanswered("PostgreSQL has not answered yet, or the pool has no connection to ask it.");
        } catch (ExecutionException | RuntimeException | Error e) {
            return unanswered("PostgreSQL could not be asked (" + ReadinessLook.named(e) + ").");
        }
    }

    private Asking ask() {
        Asking under = asking;
        if (under != null) {
            return under;
        }
        Asking begun = new Asking(new CompletableFuture<>(), System.nanoTime());
        asker.execute(() -> {
            Readiness seen = look.get();
            synchronized (this) {
                last = new Answer(seen, System.nanoTime());
                asking = null;
            }
            begun.answer.complete(seen);
        });
        asking = begun;
        return begun;
    }

    /** What is known, and how old it is. */
    private synchronized Readiness unanswered(String why) {
        if (last == null) {
            return unknown(why);
        }
        long age = System.nanoTime() - last.at;
        if (age < BELIEVED_FOR) {
            return last.readiness;
        }
        return unknown(why + " " + TimeUnit.NANOSECONDS.toSeconds(age) + " s ago readiness was "
                + (last.readiness.isOpen() ? "open." : "not open."));
    }

    private static Readiness unknown(String why) {
        return new Readiness(Input.unknown(why), Input.unknown(why), Input.unknown(why));
    }

    /** Ends the asker, whatever it waits for. */
    @Override
    public void close() {
        asker.shutdownNow();
    }
}
