package dev.backfill.benchmarks.rivals;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import com.github.kagkarlsson.scheduler.task.helper.CustomTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * db-scheduler with one task whose data is a cursor: each execution repairs a range and reschedules itself at once. Repair and cursor
 * are two transactions, so a crash between them repeats a batch. It polls every millisecond here; by default it would every ten
 * seconds, and one batch for each poll is what it would do.
 */
final class DbSchedulerCursor implements Rival {

    private static final String TABLE =
            "create table scheduled_tasks (task_name text not null, task_instance text not null,"
                    + " task_data bytea, execution_time timestamptz not null, picked boolean not null, picked_by text,"
                    + " last_success timestamptz, last_failure timestamptz, consecutive_failures int, last_heartbeat timestamptz,"
                    + " version bigint not null, priority smallint, primary key (task_name, task_instance))";

    @Override
    public String name() {
        return "db-scheduler, cursor";
    }

    @Override
    public String key() {
        return "db-scheduler";
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws SQLException {
        database.execute(TABLE, "create index on scheduled_tasks (execution_time)");
        HikariDataSource pool = database.pool(4);
        long end = (long) database.number("select max(id) from items");
        CountDownLatch done = new CountDownLatch(1);
        CustomTask<Long> task = Tasks.custom("items", Long.class).execute((instance, context) -> {
            long next = Math.min(instance.getData() + batchSize, end);
            repair(pool, instance.getData(), next);
            if (next < end) {
                return (complete, operations) -> operations.reschedule(complete, complete.getTimeDone(), next);
            }
            done.countDown();
            return new CompletionHandler.OnCompleteRemove<>();
        });
        Scheduler scheduler = Scheduler.create(pool, task)
                .threads(1)
                .pollingInterval(Duration.ofMillis(1))
                .enableImmediateExecution()
                .build();
        return new Running(pool, scheduler, task, done);
    }

    private static void repair(HikariDataSource pool, long last, long next) {
        try (Connection connection = pool.getConnection();
                PreparedStatement repair = connection.prepareStatement("update items set name_upper = "
                        + Items.EXPRESSION + " where id > ? and id <= ? and " + Items.NEEDED)) {
            repair.setLong(1, last);
            repair.setLong(2, next);
            repair.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Running(HikariDataSource pool, Scheduler scheduler, CustomTask<Long> task, CountDownLatch done)
            implements Ready {

        @Override
        public void run() throws InterruptedException {
            scheduler.start();
            scheduler.schedule(task.instance("all", 0L), Instant.EPOCH);
            if (!done.await(30, TimeUnit.MINUTES)) {
                throw new IllegalStateException("db-scheduler did not come to an end within half an hour.");
            }
        }

        @Override
        public void close() {
            scheduler.stop();
            pool.close();
        }
    }
}
