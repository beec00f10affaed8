package dev.backfill.benchmarks.rivals;

import dev.backfill.benchmarks.lab.Database;
import java.sql.SQLException;
import java.util.List;

/**
 * One way to repair the table {@code items}.
 *
 * @since 0.1
 */
public interface Rival {

    /** What it is, for tables. */
    String name();

    /** A short name for {@code -Drivals=}. */
    String key();

    /** Whether it works in batches. */
    default boolean batched() {
        return true;
    }

    /** Whether it is this library. */
    default boolean ours() {
        return false;
    }

    /** Whatever comes before the repair itself: tables of its own, pools, sessions. Not measured. */
    Ready prepare(Database database, int batchSize) throws Exception;

    /** Everything is there. */
    interface Ready extends AutoCloseable {
        /** Repairs the whole table. Measured. */
        void run() throws Exception;

        @Override
        void close() throws SQLException;
    }

    /** All of them, from the barest to the most comfortable. */
    static List<Rival> all() {
        return List.of(
                new SingleUpdate(),
                new HandLoop(false),
                new HandLoop(true),
                new SpringTasklet(),
                new SpringChunk(),
                new DbSchedulerCursor(),
                new Library(Library.Style.SET),
                new Library(Library.Style.ROW),
                new Library(Library.Style.CUSTOM));
    }

    /** The one with that key. */
    static Rival of(String key) {
        return all().stream()
                .filter(rival -> rival.key().equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no rival '" + key + "'; there are "
                        + all().stream().map(Rival::key).toList()));
    }
}
