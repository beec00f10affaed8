package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workers that look for work far less often than a lease lasts: what they hold they keep, and what can go on at once does. */
@PostgresTest
class LongPollIT {

    private final TestDatabase db;
    private final AtomicInteger looks = new AtomicInteger();

    LongPollIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Counters.fresh(db, 64);
    }

    private BackfillHarness rarelyLooking(Duration lease, BackfillDefinition<Long> definition) {
        return BackfillHarness.over(db)
                .definitions(definition)
                .connections(() -> {
                    looks.incrementAndGet();
                    return db.get();
                })
                .options(o -> o.scaledToLease(lease).workers(1).poll(Duration.ofMinutes(10)))
                .open();
    }

    @Test
    void a_row_that_can_not_be_repaired_is_narrowed_down_to_under_one_claim() { // CL-4, RB-4
        db.execute("alter table counters add constraint positive check (note is null or amount > 0) not valid;"
                + " update counters set amount = 0 where id = 37");
        BackfillDefinition<Long> definition = Counters.over(Counters.ID.value())
                .batchSize(64)
                .repair(Repair.update().set("note", "'seen'").where("note IS NULL"))
                .validate(Validation.noRowMatches("note IS NULL"))
                .build();
        // To keep a claim this long one looks every half minute, and seven windows are tried.
        try (BackfillHarness harness = rarelyLooking(Duration.ofMinutes(2), definition)) {
            harness.start(Counters.ID);
            Eventually.until("it is blocked", () -> harness.state(Counters.ID) == BackfillState.BLOCKED);
            assertThat(harness.row(Counters.ID))
                    .containsEntry("failure_code", "data-error")
                    .containsEntry("checkpoint", "{36}");
            assertThat(harness.row(Counters.ID).get("failure_message")).contains("37");
        }
    }

    @Test
    void what_waits_behind_the_start_barrier_is_looked_at_again_however_long_the_poll() throws Exception { // BB-5, SR-6
        try (BackfillHarness harness = rarelyLooking(Duration.ofSeconds(2), Counters.custom(64));
                Connection late = db.connection();
                Statement writer = late.createStatement()) {
            late.setAutoCommit(false);
            writer.execute("insert into counters values (1000)");
            harness.start(Counters.ID);
            Eventually.until(
                    "it waits",
                    () -> "start_barrier".equals(harness.row(Counters.ID).get("wait_reason")));
            assertThat(Counters.hits(db)).doesNotContain("1");
            late.rollback();
            Eventually.until("it completes", () -> harness.state(Counters.ID) == BackfillState.COMPLETED);
            assertThat(Counters.hits(db)).hasSize(64).doesNotContain("0");
        }
    }

    @Test
    void an_interrupt_that_a_definition_leaves_behind_ends_with_its_step() { // RB-2
        BackfillDefinition<Long> leaving = Counters.custom(64, (batch, tx) -> {
            Thread.currentThread().interrupt();
            return 0;
        });
        try (BackfillHarness harness = rarelyLooking(Duration.ofSeconds(30), leaving)) {
            harness.start(Counters.ID);
            Eventually.until("it completes", () -> harness.state(Counters.ID) == BackfillState.COMPLETED);
            // After that one more look, in vain. With the flag set every wait would end before it began, look after
            // look.
            Eventually.until("it waits", () -> looks.get() == looksAfterSomeTime(harness));
        }
    }

    private int looksAfterSomeTime(BackfillHarness harness) {
        for (int i = 0; i < 50; i++) {
            harness.row(Counters.ID);
        }
        return looks.get();
    }
}
