package dev.backfill.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What docs/testkit.md shows. */
class TestkitGuideIT {

    @Nested
    @PostgresTest
    class Harness {

        private final BackfillDefinition<Long> definition = Backfill.define("items.done.v1")
                .over("items", Keys.bigint("id"))
                .batchSize(10)
                .repair(Repair.update().set("done", "true").where("NOT done"))
                .validate(Validation.noRowMatches("NOT done"))
                .build();

        private final TestDatabase database;

        Harness(TestDatabase database) {
            this.database = database;
        }

        @BeforeEach
        void items() {
            database.clear();
            database.execute("create table items (id bigint primary key, done boolean not null default false);"
                    + " insert into items select n from generate_series(1, 35) n");
        }

        @Test
        void somebody_else_takes_over() {
            // region harness
            try (BackfillHarness harness = BackfillHarness.on(database, definition)) {
                harness.start(definition.id());
                HarnessWorker a = harness.worker("a");
                a.step(); // claims, and commits one batch
                a.vanish(); // as after kill -9
                harness.expireLease(definition.id());
                harness.runToCompletion(definition.id()); // somebody else takes over
            }
            // endregion
            assertThat(database.queryLong("select count(*) from items where done"))
                    .isEqualTo(35);
        }

        @Test
        void a_commit_that_landed_unseen_is_not_repeated() {
            // region faults
            FaultyConnections faults = FaultyConnections.over(database);
            faults.after(FaultPoint.commit(), Fault.cut()); // it landed, and nobody knows
            // endregion
            try (BackfillHarness harness = BackfillHarness.over(database)
                    .definitions(definition)
                    .connections(faults)
                    .open()) {
                harness.runToCompletion(definition.id());
                assertThat(harness.state(definition.id())).isEqualTo(BackfillState.COMPLETED);
            }
            faults.assertAllStruck();
        }
    }
}
