package dev.backfill.benchmarks.rivals;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.benchmarks.lab.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.Job;
import org.springframework.batch.core.JobExecution;
import org.springframework.batch.core.JobParameters;
import org.springframework.batch.core.Step;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.launch.support.TaskExecutorJobLauncher;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.repository.support.JobRepositoryFactoryBean;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.EncodedResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** A Spring Batch job of one step, with its repository in the same database. */
final class SpringJob implements Rival.Ready {

    private final HikariDataSource pool;
    private final TaskExecutorJobLauncher launcher;
    private final Job job;

    private SpringJob(HikariDataSource pool, TaskExecutorJobLauncher launcher, Job job) {
        this.pool = pool;
        this.launcher = launcher;
        this.job = job;
    }

    /** Makes the step of a job. */
    @FunctionalInterface
    interface StepMaker {
        Step make(JobRepository repository, JdbcTransactionManager transactions, HikariDataSource pool)
                throws Exception;
    }

    static SpringJob prepare(Database database, StepMaker maker) throws Exception {
        HikariDataSource pool = database.pool(3);
        schema(pool);
        JdbcTransactionManager transactions = new JdbcTransactionManager(pool);
        JobRepositoryFactoryBean factory = new JobRepositoryFactoryBean();
        factory.setDataSource(pool);
        factory.setTransactionManager(transactions);
        factory.afterPropertiesSet();
        JobRepository repository = factory.getObject();
        TaskExecutorJobLauncher launcher = new TaskExecutorJobLauncher();
        launcher.setJobRepository(repository);
        launcher.afterPropertiesSet();
        Step step = maker.make(repository, transactions, pool);
        Job job = new JobBuilder("items", repository).start(step).build();
        return new SpringJob(pool, launcher, job);
    }

    private static void schema(HikariDataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            ScriptUtils.executeSqlScript(
                    connection,
                    new EncodedResource(
                            new ClassPathResource("org/springframework/batch/core/schema-postgresql.sql"),
                            StandardCharsets.UTF_8));
        }
    }

    @Override
    public void run() throws Exception {
        JobExecution execution = launcher.run(job, new JobParameters());
        if (execution.getStatus() != BatchStatus.COMPLETED) {
            throw new IllegalStateException(
                    "The job ended as " + execution.getStatus() + ": " + execution.getAllFailureExceptions());
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
