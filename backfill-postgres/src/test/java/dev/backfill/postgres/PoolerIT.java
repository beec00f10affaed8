package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.WarmConnections;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What a host does behind a pooler that knows no prepared statements. Runs with {@code mvn -Ppgbouncer verify}. */
@PostgresTest
class PoolerIT {

    private static final String DRIVERS_OWN_SWITCH = "&prepareThreshold=0";

    private final TestDatabase db;

    PoolerIT(TestDatabase db) {
        this.db = db;
    }

    @Test
    void an_engine_without_prepared_statements_does_not_mind_whose_session_it_gets() throws Exception {
        Assumptions.assumeTrue(db.jdbcUrl().endsWith(DRIVERS_OWN_SWITCH), "There is no such pooler in this run.");
        String url = db.jdbcUrl().replace(DRIVERS_OWN_SWITCH, "");
        Samples.items(db, 1_000);
        try (WarmConnections connections = new WarmConnections(() -> DriverManager.getConnection(url), 3);
                BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Samples.upper(10))
                        .connections(connections)
                        .options(o -> o.preparedStatements(false))
                        .open();
                Connection other = db.get();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            harness.start(Samples.upper(10).id());
            assertThat(harness.state(Samples.upper(10).id())).isEqualTo(BackfillState.RUNNING);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 40; i++) {
                // Every other batch, the session of the batch before is somebody else's.
                if (i % 2 == 0) {
                    statement.execute("select 1");
                } else {
                    other.commit();
                }
                assertThat(worker.step()).isInstanceOf(Committed.class);
            }
        }
    }
}
