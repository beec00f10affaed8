package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows are locked in key order, so that a writer who does the same can wait for a repair but never deadlocks with it. */
@PostgresTest
class LockOrderIT {

    private static final int PAGE = 100;
    private static final int HELD = 150;

    private final TestDatabase db;

    LockOrderIT(TestDatabase db) {
        this.db = db;
    }

    static Stream<Arguments> styles() {
        return Stream.of(
                Arguments.of("SQL over the window", Counters.set(PAGE)),
                Arguments.of("Java function over rows", Counters.row(PAGE)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("styles")
    void a_repair_that_waits_for_a_row_holds_all_rows_before_it_and_none_after(
            String name, BackfillDefinition<Long> definition) throws Exception { // BB-2
        Counters.fresh(db, 0);
        // The heap's order is the reverse of the key's.
        db.execute("insert into counters (id) select g from generate_series(20000, 1, -1) as g");
        db.execute("analyze counters");
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definition)
                        .options(o -> o.lockTimeout(Duration.ofMillis(900)))
                        .open();
                Connection writer = db.get()) {
            harness.start(Counters.ID);
            // A transaction from before the first batch would hold the start barrier instead.
            try (HarnessWorker worker = harness.worker("first")) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
            }
            writer.setAutoCommit(false);
            try (Statement statement = writer.createStatement()) {
                statement.execute("select 1 from counters where id = " + HELD + " for update");
            }
            assertThat(freeWhileItWaits(harness)).as(name).isEqualTo(after(HELD));
            writer.rollback();
        }
    }

    private static List<Integer> after(int held) {
        return IntStream.rangeClosed(held + 1, 2 * PAGE).boxed().toList();
    }

    /** Rows of the page that are free at a moment in which the repair is seen to wait for one of them. */
    private List<Integer> freeWhileItWaits(BackfillHarness harness) throws Exception {
        while (true) {
            harness.clearRetryDelay(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            Thread step = new Thread(worker::step, "stepping");
            step.start();
            List<Integer> seen = null;
            while (step.isAlive() && seen == null) {
                seen = free();
            }
            step.join();
            worker.close();
            if (seen != null) {
                return seen;
            }
        }
    }

    /** Null unless one and the same statement waited for a lock before and after the look. */
    private @Nullable List<Integer> free() throws SQLException {
        String before = waiting();
        if (before == null) {
            return null;
        }
        List<Integer> free = new ArrayList<>();
        try (Connection probe = db.get();
                Statement statement = probe.createStatement();
                ResultSet rows = statement.executeQuery("select id from counters where id > " + PAGE + " and id <= "
                        + 2 * PAGE + " order by id for update skip locked")) {
            while (rows.next()) {
                free.add(rows.getInt(1));
            }
        }
        return before.equals(waiting()) ? free : null;
    }

    private @Nullable String waiting() {
        return db.queryText(
                "select min(pid || ' ' || query_start) from pg_stat_activity where datname = current_database()"
                        + " and wait_event_type = 'Lock' and query like '/* backfill:repair */%'");
    }
}
