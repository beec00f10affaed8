package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code pg_stat_activity} explains itself: which backfill, which generation, which statement. */
@PostgresTest
class ActivityIT {

    private static final Pattern TRANSACTION_END = Pattern.compile("(?i)commit|rollback");

    private final TestDatabase db;

    ActivityIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    @Test
    void a_batch_and_a_validation_name_backfill_and_generation() throws Exception {
        Gate batch = new Gate();
        Gate proof = new Gate();
        BackfillDefinition<Long> definition = Ledgers.over(Ledgers.ID.value())
                .repair((window, tx) -> batch.holdThen(() -> 0))
                .validate((dev.backfill.Validation.Custom<Long>)
                        tx -> proof.holdThen(dev.backfill.ValidationOutcome::holds))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Ledgers.ID);
            var worker = harness.worker("a");
            var step = worker.stepAside();
            batch.awaitArrival();
            String no = harness.row(Ledgers.ID).get("no");
            String expected = "backfill #" + no + " g2 " + Ledgers.ID;
            assertThat(names()).contains(expected);
            batch.open();
            step.get(60, TimeUnit.SECONDS);
            var validation = worker.stepAside();
            proof.awaitArrival();
            assertThat(names()).contains(expected);
            proof.open();
            validation.get(60, TimeUnit.SECONDS);
            // Of the transaction, so the pool gets its connection back as it was.
            assertThat(names()).noneMatch(name -> name.startsWith("backfill #"));
        }
    }

    private List<String> names() {
        return db.queryTexts(
                "select application_name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()");
    }

    @Test
    void every_statement_of_the_engine_carries_a_tag() {
        FaultyConnections links = FaultyConnections.over(db);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(links)
                .definitions(Ledgers.over(Ledgers.ID.value())
                        .batchSize(4)
                        .repair(Repair.update().set("hits", "hits + 1").where("hits = 0"))
                        .validate(Validation.noRowMatches("hits = 0"))
                        .build())
                .open()) {
            // The migrations are the published files, word for word; from here on it is the engine that speaks.
            links.restart();
            harness.start(Ledgers.ID);
            harness.pause(Ledgers.ID);
            harness.resume(Ledgers.ID);
            harness.runToCompletion(Ledgers.ID);
            harness.validate(Ledgers.ID);
            harness.show(Ledgers.ID);
            harness.operations().list(BackfillHarness.OPERATOR);
            harness.operations().audit(BackfillHarness.OPERATOR, null, 10, null);
            harness.operations().preflight(BackfillHarness.OPERATOR, Ledgers.ID);
            assertThat(links.seen()).hasSizeGreaterThan(40);
            assertThat(links.seen().stream()
                            .filter(sql -> !TRANSACTION_END.matcher(sql.strip()).matches()))
                    .allMatch(sql -> sql.contains("/* backfill:"), "has a tag");
        }
    }
}
