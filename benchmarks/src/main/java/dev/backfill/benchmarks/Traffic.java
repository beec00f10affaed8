package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Patience;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Clients that each update one random row at fixed instants, one transaction each.
 *
 * @param database where
 * @param rows among how many
 * @param clients how many at once
 * @param perSecond how often each
 */
record Traffic(Database database, long rows, int clients, int perSecond) {

    private static final double NANOS_IN_MILLI = 1e6;

    /** Milliseconds of each update, counted from the instant at which it was due; the first second is not counted. */
    double[] run(int seconds) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try {
            List<Future<List<Double>>> running = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                int client = i;
                running.add(threads.submit(() -> client(client, seconds)));
            }
            List<Double> all = new ArrayList<>();
            for (Future<List<Double>> one : running) {
                all.addAll(one.get());
            }
            return all.stream().mapToDouble(Double::doubleValue).toArray();
        } finally {
            threads.shutdownNow();
        }
    }

    private List<Double> client(int number, int seconds) throws SQLException {
        Random random = new Random(number);
        List<Double> millis = new ArrayList<>();
        try (Connection connection = database.connect();
                PreparedStatement update =
                        connection.prepareStatement("update items set amount = amount + 1 where id = ?")) {
            long gap = 1_000_000_000L / perSecond;
            // Clients take turns within the gap.
            long first = System.nanoTime() + gap * number / clients;
            for (long i = 0; i < (long) seconds * perSecond; i++) {
                long due = first + i * gap;
                Patience.until(due);
                update.setLong(1, 1 + (long) (random.nextDouble() * rows));
                update.executeUpdate();
                if (i >= perSecond) {
                    millis.add((System.nanoTime() - due) / NANOS_IN_MILLI);
                }
            }
        }
        return millis;
    }
}
