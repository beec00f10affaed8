package dev.backfill.benchmarks.rivals;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.batch.core.Step;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.item.database.JdbcBatchItemWriter;
import org.springframework.batch.item.database.JdbcPagingItemReader;
import org.springframework.batch.item.database.Order;
import org.springframework.batch.item.database.builder.JdbcBatchItemWriterBuilder;
import org.springframework.batch.item.database.builder.JdbcPagingItemReaderBuilder;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Batch as its guide shows it: a paging reader, a processor in Java, a batch writer, page and chunk of one size. */
final class SpringChunk implements Rival {

    private record Item(long id, String name, String upper) {}

    @Override
    public String name() {
        return "Spring Batch, chunk step";
    }

    @Override
    public String key() {
        return "chunk";
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws Exception {
        return SpringJob.prepare(
                database, (repository, transactions, pool) -> step(repository, transactions, pool, batchSize));
    }

    private static Step step(
            JobRepository repository, JdbcTransactionManager transactions, HikariDataSource pool, int batchSize)
            throws Exception {
        return new StepBuilder("upper", repository)
                .<Item, Item>chunk(batchSize, transactions)
                .reader(reader(pool, batchSize))
                .processor(item -> new Item(item.id(), item.name(), item.name().toUpperCase(Locale.ROOT)))
                .writer(writer(pool))
                .build();
    }

    private static JdbcPagingItemReader<Item> reader(DataSource pool, int batchSize) throws Exception {
        JdbcPagingItemReader<Item> reader = new JdbcPagingItemReaderBuilder<Item>()
                .name("items")
                .dataSource(pool)
                .selectClause("id, name")
                .fromClause("items")
                .whereClause(Items.NEEDED)
                .sortKeys(Map.of("id", Order.ASCENDING))
                .pageSize(batchSize)
                .rowMapper((row, number) -> new Item(row.getLong("id"), row.getString("name"), ""))
                .build();
        reader.afterPropertiesSet();
        return reader;
    }

    private static JdbcBatchItemWriter<Item> writer(DataSource pool) {
        JdbcBatchItemWriter<Item> writer = new JdbcBatchItemWriterBuilder<Item>()
                .dataSource(pool)
                .sql("update items set name_upper = ? where id = ?")
                .itemPreparedStatementSetter((item, statement) -> {
                    statement.setString(1, item.upper());
                    statement.setLong(2, item.id());
                })
                .build();
        writer.afterPropertiesSet();
        return writer;
    }
}
