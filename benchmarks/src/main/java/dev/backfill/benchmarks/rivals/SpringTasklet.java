package dev.backfill.benchmarks.rivals;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import java.util.Objects;
import org.springframework.batch.core.StepContribution;
import org.springframework.batch.core.scope.context.ChunkContext;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.item.ExecutionContext;
import org.springframework.batch.repeat.RepeatStatus;
import org.springframework.jdbc.core.JdbcTemplate;

/** Spring Batch with a tasklet that repairs one range of IDs at each call and keeps its place in the execution context. */
final class SpringTasklet implements Rival {

    @Override
    public String name() {
        return "Spring Batch, tasklet";
    }

    @Override
    public String key() {
        return "tasklet";
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws Exception {
        return SpringJob.prepare(
                database,
                (repository, transactions, pool) -> new StepBuilder("upper", repository)
                        .tasklet(new Range(new JdbcTemplate(pool), batchSize), transactions)
                        .build());
    }

    private record Range(JdbcTemplate jdbc, int batchSize) implements Tasklet {

        @Override
        public RepeatStatus execute(StepContribution contribution, ChunkContext chunk) {
            ExecutionContext context = chunk.getStepContext().getStepExecution().getExecutionContext();
            if (!context.containsKey("end")) {
                context.putLong(
                        "end", Objects.requireNonNull(jdbc.queryForObject("select max(id) from items", Long.class)));
            }
            long end = context.getLong("end");
            long last = context.getLong("last", 0);
            long next = Math.min(last + batchSize, end);
            jdbc.update(
                    "update items set name_upper = " + Items.EXPRESSION + " where id > ? and id <= ? and "
                            + Items.NEEDED,
                    last,
                    next);
            context.putLong("last", next);
            return RepeatStatus.continueIf(next < end);
        }
    }
}
