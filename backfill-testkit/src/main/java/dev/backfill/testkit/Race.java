package dev.backfill.testkit;

import dev.backfill.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Contenders that start at one barrier, again and again. Whatever a contender needs (a connection, a worker with one) must be there
 * before the barrier: opening it behind the barrier spreads the contenders out until nobody races any more.
 *
 * @since 0.1
 */
public final class Race {

    private final int contenders;
    private final Duration limit;

    private Race(int contenders, Duration limit) {
        this.contenders = contenders;
        this.limit = limit;
    }

    /** A race of so many threads; at least two. */
    public static Race of(int contenders) {
        if (contenders < 2) {
            throw new IllegalArgumentException("a race needs at least 2 contenders, got " + contenders);
        }
        return new Race(contenders, Duration.ofSeconds(60));
    }

    /** What one contender does. */
    @FunctionalInterface
    public interface Contender<T> {
        /**
         * Runs behind the barrier.
         *
         * @param number 0 to contenders - 1
         */
        T run(int number) throws Exception;
    }

    /** What one contender does with the connection that was open before the barrier. */
    @FunctionalInterface
    public interface ConnectedContender<T> {
        /** Runs behind the barrier. */
        T run(Connection connection, int number) throws Exception;
    }

    /** What surrounds a round, on the test's own thread. */
    public interface Round<T> {
        /** Sets the stage while nobody runs. */
        void before(int round) throws Exception;

        /** Looks at the results while nobody runs. */
        void after(int round, List<T> results) throws Exception;
    }

    /** One round. */
    public <T> List<T> run(Contender<T> contender) throws Exception {
        List<T> all = new ArrayList<>();
        rounds(1, contender, after((round, results) -> all.addAll(results)));
        return all;
    }

    /** Many rounds over the same threads. */
    public <T> void rounds(int rounds, Contender<T> contender, Round<T> around) throws Exception {
        AtomicInteger threads = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(
                contenders, task -> new Thread(task, "backfill-race-" + threads.getAndIncrement()));
        try {
            for (int round = 0; round < rounds; round++) {
                around.before(round);
                around.after(round, oneRound(pool, contender));
            }
        } finally {
            pool.shutdownNow();
        }
    }

    /** Many rounds, each contender with a connection of its own that is open before the first barrier and closed at the end. */
    public <T> void rounds(int rounds, ConnectionSource source, ConnectedContender<T> contender, Round<T> around)
            throws Exception {
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < contenders; i++) {
                open.add(source.get());
            }
            rounds(rounds, number -> contender.run(open.get(number), number), around);
        } finally {
            for (Connection connection : open) {
                closeQuietly(connection);
            }
        }
    }

    /** A round with nothing to set up. */
    public static <T> Round<T> after(RoundCheck<T> check) {
        return new Round<>() {
            @Override
            public void before(int round) {}

            @Override
            public void after(int round, List<T> results) throws Exception {
                check.check(round, results);
            }
        };
    }

    /** Looks at the results of a round. */
    @FunctionalInterface
    public interface RoundCheck<T> {
        /** Called while nobody runs. */
        void check(int round, List<T> results) throws Exception;
    }

    private <T> List<T> oneRound(ExecutorService pool, Contender<T> contender) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(contenders);
        List<Future<T>> running = new ArrayList<>();
        for (int i = 0; i < contenders; i++) {
            int number = i;
            running.add(pool.submit(() -> {
                await(barrier);
                return contender.run(number);
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : running) {
            results.add(result(future));
        }
        return results;
    }

    private <T> T result(Future<T> future) throws Exception {
        try {
            return future.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } catch (TimeoutException e) {
            throw new AssertionError("A contender did not end within " + limit.toSeconds() + " s.", e);
        }
    }

    private void await(CyclicBarrier barrier) throws InterruptedException, BrokenBarrierException, TimeoutException {
        barrier.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static void closeQuietly(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // The race is over; a connection that can't be closed ends with the database.
            org.slf4j.LoggerFactory.getLogger(Race.class).debug("A contender's connection could not be closed.", e);
        }
    }
}
