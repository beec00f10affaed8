package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ValidationReport.CurrentState;
import dev.backfill.operate.ValidationReport.Success;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Code that never ends: it loses its session, and others lose nothing by it. */
@PostgresTest
class EndlessCodeIT {

    private static final BackfillId SECOND = BackfillId.of("counters.second.v1");
    private static final BackfillId THIRD = BackfillId.of("counters.third.v1");
    private static final Duration SECONDS = Duration.ofSeconds(1);

    private final TestDatabase db;
    private final CountDownLatch release = new CountDownLatch(1);
    private final AtomicInteger entries = new AtomicInteger();

    EndlessCodeIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void aTable() {
        Counters.fresh(db, 10);
        db.execute("create or replace function unlimited() returns void language plpgsql as $$ begin"
                + " if current_setting('server_version_num')::int >= 170000 then"
                + " perform set_config('transaction_timeout', '0', true); end if; end $$");
    }

    private static EngineOptions.Builder quick(EngineOptions.Builder options) {
        return options.statementTimeout(SECONDS)
                .transactionTimeout(SECONDS)
                .idleInTransactionTimeout(SECONDS)
                .validationTimeout(SECONDS)
                .operatorTimeout(Duration.ofSeconds(6))
                .lease(Duration.ofSeconds(2))
                .poll(Duration.ofMillis(50))
                .closeTimeout(Duration.ofSeconds(2));
    }

    private static BackfillDefinition<Long> validated(BackfillId id, Validation.Custom<Long> validation) {
        return Counters.over(id.value())
                .repair((batch, tx) -> Counters.count(tx, batch.keys()))
                .validate(validation)
                .build();
    }

    /** Comes back once it is released, whatever is done to its thread. */
    private void deaf() {
        entries.incrementAndGet();
        while (release.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    private ValidationOutcome endless() {
        deaf();
        return ValidationOutcome.holds();
    }

    /** Each statement is short, so that none of PostgreSQL's limits of a statement ends it; 17's of a transaction is put off. */
    private void loops(Connection connection) {
        entries.incrementAndGet();
        try (Statement statement = connection.createStatement()) {
            statement.execute("select unlimited()");
            while (release.getCount() > 0) {
                statement.execute("select 1");
            }
        } catch (SQLException e) {
            deaf();
        }
    }

    @Test
    void two_endless_validations_leave_a_process_able_to_validate_every_other_id() { // EV-4, BB-2, EV-6
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(
                        validated(Counters.ID, tx -> endless()),
                        validated(SECOND, tx -> endless()),
                        validated(THIRD, tx -> ValidationOutcome.holds()))
                .options(EndlessCodeIT::quick)
                .open()) {
            Rows.put(db, BackfillState.PAUSED);
            assertThat(harness.validate(Counters.ID)).isInstanceOf(CurrentState.class);
            assertThat(harness.validate(SECOND)).isInstanceOf(CurrentState.class);
            Eventually.until("a third one has a slot", () -> harness.validate(THIRD) instanceof Success);
            assertThat(harness.validate(Counters.ID)).isInstanceOf(CurrentState.class);
            assertThat(entries).as("nobody else was sent into that code").hasValue(2);
            Eventually.until(
                    "the audit says that it had no result",
                    () -> harness.auditRecords(SECOND).stream()
                            .anyMatch(r -> "current_state".equals(r.get("outcome"))));
            assertThat(db.queryLong("select count(running_request_id) from backfill_validation"))
                    .isZero();
            release.countDown();
            Eventually.until("it is validated again", () -> harness.validate(SECOND) instanceof Success);
        } finally {
            release.countDown();
        }
    }

    @Test
    void an_endless_validation_of_short_statements_loses_its_session() { // BB-2, EV-4
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(validated(Counters.ID, tx -> {
                    loops(tx.connection());
                    return ValidationOutcome.holds();
                }))
                .options(EndlessCodeIT::quick)
                .open()) {
            Rows.put(db, BackfillState.PAUSED);
            assertThat(harness.validate(Counters.ID)).isInstanceOf(CurrentState.class);
            Eventually.until("its session is gone", () -> entries.get() == 2);
        } finally {
            release.countDown();
        }
    }

    @Test
    void a_loop_of_short_statements_loses_its_session_and_its_locks() { // BB-2, AT-1
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.over(Counters.ID.value())
                        .repair((batch, tx) -> {
                            long changed = Counters.count(tx, batch.keys());
                            loops(tx.connection());
                            return changed;
                        })
                        .validate((Validation.Custom<Long>) tx -> ValidationOutcome.holds())
                        .build())
                .options(o -> quick(o).workers(1))
                .open()) {
            harness.start(Counters.ID);
            Eventually.until("its session is gone", () -> entries.get() == 2);
            Eventually.until(
                    "nobody holds its rows",
                    () -> db.queryLong("select count(*) from (select 1 from counters for update skip locked) as free")
                            == 10);
            Eventually.until(
                    "the overrun is recorded",
                    () -> "deadline-passed".equals(harness.row(Counters.ID).get("failure_code")));
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
        } finally {
            release.countDown();
        }
    }
}
