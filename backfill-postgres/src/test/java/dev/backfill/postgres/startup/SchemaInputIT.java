package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The schema as an input of readiness: whole tables, not a version that says so. */
@PostgresTest
class SchemaInputIT {

    private final TestDatabase db;

    SchemaInputIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Host.items(db, 25);
    }

    private Backfills boot(SchemaMode mode) {
        return Host.start(db, mode, b -> b.requiredAtStartup(Host.ID.value()));
    }

    @Test
    void a_table_that_is_dropped_closes_the_schema_input_and_makes_the_backfills_unknown() { // CF-6, SC-5
        try (Backfills engine = boot(SchemaMode.MIGRATE)) {
            Host.awaitOpen(engine);
            db.execute("drop table backfill_audit");
            awaitClosedBecauseOf(engine, "Table backfill_audit is missing in schema public");
            Readiness readiness = engine.readiness();
            assertThat(readiness.database().ok()).isTrue();
            assertThat(readiness.backfills().status()).isEqualTo(Readiness.Status.UNKNOWN); // CF-2
        }
    }

    @Test
    void whichever_table_or_column_is_away_is_named_until_all_are_back() { // CF-6
        try (Backfills engine = Host.start(db, SchemaMode.MIGRATE, b -> {})) {
            Host.awaitOpen(engine);
            db.execute("alter table backfill_request rename note to remark");
            awaitClosedBecauseOf(engine, "Column note of table backfill_request is missing");
            assertThat(engine.readiness().backfills().ok()).as("manual mode").isTrue(); // CF-4
            db.execute("alter table backfill_request rename remark to note");
            // The first by name is told, so each that goes away is told before those that went before.
            List<String> tables = db.queryTexts("select relname from pg_class where relkind = 'r'"
                    + " and relnamespace = 'public'::regnamespace and relname like 'backfill%' order by relname desc");
            assertThat(tables).hasSizeGreaterThan(6);
            for (String table : tables) {
                db.execute("alter table " + table + " rename to away_" + table);
                awaitClosedBecauseOf(engine, "Table " + table + " is missing");
            }
            tables.forEach(table -> db.execute("alter table away_" + table + " rename to " + table));
            Host.awaitOpen(engine);
        }
    }

    @ParameterizedTest
    @EnumSource(SchemaMode.class)
    void a_boot_that_finds_a_table_gone_fails_closed_and_goes_on_when_it_is_back(SchemaMode mode) { // SC-5
        try (Backfills first = Host.start(db, SchemaMode.MIGRATE, b -> {})) {
            Host.awaitStarted(first);
        }
        db.execute("alter table backfill_audit rename to elsewhere");
        db.execute("delete from backfill");
        try (Backfills engine = boot(mode)) {
            assertThatThrownBy(engine::requireStarted)
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.SCHEMA_MISSING))
                    .hasMessageContaining("Table backfill_audit is missing");
            Readiness readiness = engine.readiness();
            assertThat(readiness.schema().reason()).contains("backfill_audit");
            assertThat(readiness.backfills().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(readiness.backfills().reason()).doesNotContain("backfill_audit");
            assertThat(db.queryLong("select count(*) from backfill"))
                    .as("rows registered")
                    .isZero();
            db.execute("alter table elsewhere rename to backfill_audit");
            Host.awaitOpen(engine);
        }
    }

    private static void awaitClosedBecauseOf(Backfills engine, String words) {
        Eventually.until("the schema input says: " + words, () -> {
            Readiness.Input schema = engine.readiness().schema();
            return schema.status() == Readiness.Status.CLOSED
                    && String.valueOf(schema.reason()).startsWith(words);
        });
        assertThat(engine.readiness().isOpen()).isFalse();
    }
}
