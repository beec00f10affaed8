package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.UpdateRepair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.ValidationReport;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.preflight.Catalog;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a new user gets wrong, and what they are told before anything has been changed. */
@PostgresTest
class PreflightIT {

    private static final String ID = "preflight.v1";

    private final TestDatabase db;

    PreflightIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_table() {
        db.execute("create table docs (id bigint primary key, maybe bigint unique, loose bigint not null,"
                + " name text not null, title text, n int); insert into docs select g, g, g, 'n' || g, null, 1"
                + " from generate_series(1, 20) g; analyze docs");
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    private static <K> BackfillDefinition<K> titles(KeyType<K> key, UpdateRepair repair, String unrepaired) {
        return Backfill.define(ID)
                .over("docs", key)
                .repair(repair)
                .validate(Validation.noRowMatches(unrepaired))
                .build();
    }

    private static <K> BackfillDefinition<K> by(KeyType<K> key) {
        return titles(key, Repair.update().set("title", "name").where("title IS NULL"), "title IS NULL");
    }

    private static BackfillDefinition<Long> repairing(String expression, String condition) {
        return titles(
                Keys.bigint("id"), Repair.update().set("title", expression).where(condition), "title IS NULL");
    }

    private static BackfillDefinition<Long> inJava() {
        return Backfill.define(ID)
                .over("docs", Keys.bigint("id"))
                .repair(Repair.rows().reading("name").writing("title", row -> row.text("name")))
                .validate(Validation.noRowMatches("title IS NULL"))
                .build();
    }

    private Preflight preflight(BackfillDefinition<?> definition) {
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            return harness.operations().preflight(BackfillHarness.OPERATOR, definition.id());
        }
    }

    /** Start and preflight say the same, and a refused start leaves the row alone. */
    private Finding refused(BackfillDefinition<?> definition, String code) {
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            Preflight preflight = harness.operations().preflight(BackfillHarness.OPERATOR, definition.id());
            ActionOutcome outcome = harness.start(definition.id());
            assertThat(outcome).isInstanceOf(ActionOutcome.Conflict.class);
            ActionOutcome.Conflict conflict = (ActionOutcome.Conflict) outcome;
            assertThat(conflict.code()).isEqualTo(ConflictCode.PREFLIGHT_FAILED);
            assertThat(conflict.findings()).isEqualTo(preflight.errors());
            assertThat(harness.state(definition.id())).isEqualTo(BackfillState.PENDING);
            assertThat(conflict.findings())
                    .extracting(finding -> finding.code().wireName())
                    .contains(code);
            return conflict.findings().stream()
                    .filter(f -> f.code().wireName().equals(code))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void a_nullable_key_is_refused() { // SR-2
        assertThat(refused(by(Keys.bigint("maybe")), "key_nullable").message())
                .contains("docs.maybe", "NOT NULL", "skipped");
    }

    @Test
    void a_key_whose_not_null_was_never_validated_is_refused() { // SR-2
        assumeThat(db.majorVersion()).isGreaterThanOrEqualTo(18);
        db.execute("insert into docs (id, maybe, loose, name) values (21, null, 21, 'n21');"
                + " alter table docs add constraint maybe_nn not null maybe not valid");
        refused(by(Keys.bigint("maybe")), "key_nullable");
    }

    @Test
    void a_key_without_an_index_is_refused() { // SR-2
        assertThat(refused(by(Keys.bigint("loose")), "key_not_indexed").message())
                .contains("loose", "Create one, concurrently");
    }

    @Test
    void a_key_that_is_not_unique_is_refused() { // SR-2
        db.execute("create index on docs (loose)");
        assertThat(refused(by(Keys.bigint("loose")), "key_not_unique").message())
                .contains("breaks ties");
    }

    @Test
    void a_table_with_children_is_refused_because_no_index_spans_them() { // SR-2
        db.execute("create table docs_child () inherits (docs)");
        assertThat(refused(by(Keys.bigint("id")), "table_inherited").message()).contains("inherit", "partitioned");
        db.execute("drop table docs_child");
    }

    @Test
    void a_rule_that_replaces_the_update_is_refused_and_one_that_adds_to_it_is_shown() { // SR-7
        db.execute("create rule titles as on update to docs do instead nothing");
        assertThat(refused(by(Keys.bigint("id")), "update_replaced").message()).contains("rule", "docs", "instead");
        db.execute("drop rule titles on docs; create table title_log (id bigint)");
        db.execute("create rule titles as on update to docs do also insert into title_log values (old.id)");
        assertThat(refused(by(Keys.bigint("id")), "statement_invalid").message())
                .contains("0A000", "rule");
        BackfillDefinition<Long> inJava = inJava();
        assertThat(preflight(inJava).warnings())
                .extracting(finding -> finding.code().wireName())
                .contains("rule_fires");
        try (BackfillHarness harness = BackfillHarness.on(db, inJava)) {
            harness.runToCompletion(BackfillId.of(ID));
            assertThat(harness.row(BackfillId.of(ID))).containsEntry("rows_changed", "20");
        }
        assertThat(db.queryText("select count(*) from title_log")).isEqualTo("20");
    }

    @Test
    void a_key_of_another_type_is_refused() { // SR-2
        assertThat(refused(by(Keys.uuid("id")), "key_type").message())
                .contains("bigint", "uuid", "Keys.bigint(\"id\")");
    }

    @Test
    void a_key_of_another_type_is_told_the_method_that_fits() { // SR-2
        db.execute(
                "create type mood as enum ('low', 'high'); create domain short as char(3); alter table docs add column feeling mood,"
                        + " add column code short, add column digest bytea, add column mac macaddr8, add column body json");
        for (Map.Entry<String, String> column : Map.of(
                        "feeling", "Keys.enumerated(\"feeling\", \"public.mood\")",
                        "code", "Keys.character(\"code\")",
                        "digest", "Keys.bytea(\"digest\")",
                        "mac", "Keys.of(\"mac\", \"macaddr8\")")
                .entrySet()) {
            assertThat(refused(by(Keys.uuid(column.getKey())), "key_type").message())
                    .contains(column.getValue());
        }
        assertThat(refused(by(Keys.of("body", "json")), "key_type_unordered").message())
                .contains("docs.body", "json", "no order");
    }

    @Test
    void a_key_whose_text_is_another_value_is_refused() { // SR-4
        db.execute(
                "create type pair as (a text, b int); create function lossy(pair) returns text language sql immutable as"
                        + " $$ select '(x,1)' $$; create cast (pair as text) with function lossy(pair);"
                        + " alter table docs add column both_parts pair;"
                        + " update docs set both_parts = row(name, 2)::pair; alter table docs alter column both_parts set not null;"
                        + " create unique index on docs (both_parts)");
        assertThat(refused(by(Keys.of("both_parts", "pair")), "key_round_trip").message())
                .contains("docs.both_parts", "read back from its text");
    }

    @Test
    void a_text_key_whose_index_has_another_collation_is_refused() { // SR-2
        db.execute("create unique index on docs (name)");
        assertThat(refused(by(Keys.text("name")), "key_not_indexed").message())
                .contains("docs_name_idx has them under collation default", "Keys.text(column, collation)");
    }

    @Test
    void a_nondeterministic_collation_is_refused() { // SR-2
        db.execute("create collation loose_ (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        db.execute("create unique index on docs (name collate loose_)");
        assertThat(refused(by(Keys.text("name", "loose_")), "collation_nondeterministic")
                        .message())
                .contains("tie");
    }

    @Test
    void a_key_under_a_collation_of_another_version_is_refused_before_start_claim_and_validation() { // SR-9, VA-4
        db.execute(
                "create collation aged (provider = icu, locale = 'en'); create table words (k text collate aged primary key,"
                        + " done boolean); insert into words values ('a'), ('b')");
        BackfillDefinition<String> definition = Backfill.define(ID)
                .over("words", Keys.text("k", "aged"))
                .batchSize(1)
                .repair(Repair.update().set("done", "true").where("done IS NULL"))
                .validate(Validation.noRowMatches("done IS NULL"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            age("'0'");
            assertThat(harness.start(definition.id()))
                    .isInstanceOfSatisfying(
                            ActionOutcome.Conflict.class,
                            refused -> assertThat(
                                            refused.findings().get(0).code().wireName())
                                    .isEqualTo("collation_version_changed"));
            age("pg_collation_actual_version(oid)");
            harness.start(definition.id());
            age("'0'");
            assertThat(harness.worker("a").step()).isEqualTo(new StepOutcome.NothingToDo());
            assertThat(harness.row(definition.id())).containsEntry("wait_reason", "schema");
            assertThat(harness.validate(definition.id()))
                    .isInstanceOfSatisfying(
                            ValidationReport.CurrentState.class,
                            now -> assertThat(now.reason()).isEqualTo(ValidationReport.Reason.INCOMPATIBLE_SCHEMA));
            age("pg_collation_actual_version(oid)");
            harness.runToCompletion(definition.id());
        } finally {
            db.execute("drop table words; drop collation aged");
        }
    }

    private void age(String version) {
        db.execute("update pg_collation set collversion = " + version + " where collname = 'aged'");
    }

    @Test
    void the_version_of_a_databases_default_collation_counts_too() throws Exception { // SR-9
        assumeThat(db.majorVersion()).isGreaterThanOrEqualTo(15);
        String name = db.name() + "_icu";
        db.execute("create database " + name + " template template0 locale_provider icu icu_locale 'en'");
        String url = db.directUrl().replace("/" + db.name(), "/" + name);
        try (Session session =
                new Sessions(() -> DriverManager.getConnection(url), true).open(Duration.ofSeconds(30))) {
            assertThat(Catalog.isVersionChanged(session, "default")).isFalse();
            db.execute("update pg_database set datcollversion = '0' where datname = '" + name + "'");
            session.connection().rollback();
            assertThat(Catalog.isVersionChanged(session, "default")).isTrue();
        } finally {
            db.execute("drop database " + name + " with (force)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"title = NULL", "title IN (NULL)", "1 > 2", "title <> NULL AND id > 3"})
    void a_condition_that_can_hold_for_no_row_is_refused(String condition) { // VA-4
        assertThat(refused(repairing("name", condition), "never_matches").message())
                .contains("repair", "IS NULL");
        refused(
                titles(Keys.bigint("id"), Repair.update().set("title", "name").where("true"), condition),
                "never_matches");
    }

    @Test
    void a_condition_that_holds_for_no_row_because_the_column_is_not_null_already_is_not_refused() { // VA-4
        db.execute("update docs set title = name; alter table docs alter title set not null");
        assertThat(preflight(repairing("name", "title IS NULL")).errors()).isEmpty();
    }

    @Test
    void an_index_that_lacks_a_row_does_not_hide_it_from_the_validation() { // VA-4
        BackfillDefinition<Long> definition = repairing("name", "title IS NULL");
        // As on a large table, where the index would be the cheaper way.
        db.execute("alter database " + db.name() + " set enable_seqscan = off");
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            db.execute(
                    "update pg_index set indisready = false, indislive = false where indexrelid = 'docs_pkey'::regclass");
            db.execute("insert into docs (id, loose, name) values (7777, 7777, 'n')");
            db.execute(
                    "update pg_index set indisready = true, indislive = true where indexrelid = 'docs_pkey'::regclass");
            db.execute("insert into docs (id, loose, name) values (8888, 8888, 'n')");
            harness.start(definition.id());
            HarnessWorker worker = harness.worker("a");
            StepOutcome last = worker.step();
            while (last instanceof StepOutcome.Committed) {
                last = worker.step();
            }
            assertThat(last).isInstanceOf(StepOutcome.Ended.class);
            assertThat(harness.row(definition.id())).containsEntry("failure_code", "validation-rejected");
        } finally {
            db.execute("alter database " + db.name() + " reset enable_seqscan");
        }
    }

    @Test
    void an_invalid_index_does_not_count() { // SR-2
        db.execute("update docs set loose = 1 where id < 3");
        try {
            db.execute("create unique index concurrently broken on docs (loose)");
        } catch (IllegalStateException duplicates) {
            assertThat(duplicates).hasMessageContaining("broken");
        }
        refused(by(Keys.bigint("loose")), "key_not_indexed");
    }

    @Test
    void sql_that_postgresql_refuses_is_named_by_part_and_state_without_its_text() { // AU-5
        assertThat(refused(repairing("'secret' ||", "true"), "statement_invalid")
                        .message())
                .contains("repair", "42601", "syntax")
                .doesNotContain("secret");
        assertThat(refused(repairing("nam", "true"), "statement_invalid").message())
                .contains("42703", "A column does not exist");
        assertThat(refused(repairing("name", "n"), "statement_invalid").message())
                .contains("42804", "not boolean");
        assertThat(refused(repairing("no_such(name)", "true"), "statement_invalid")
                        .message())
                .contains("42883");
        assertThat(refused(
                                titles(Keys.bigint("id"), Repair.update().set("title", "name"), "titel IS NULL"),
                                "statement_invalid")
                        .message())
                .contains("validation", "42703");
    }

    @Test
    void a_table_that_publishes_updates_without_an_identity_is_refused_in_every_style_that_updates() { // SR-7
        db.execute("alter table docs replica identity nothing; create publication docs_changes for table docs");
        assertThat(refused(by(Keys.bigint("id")), "statement_invalid").message())
                .contains("55000", "replica identity");
        assertThat(refused(inJava(), "statement_invalid").message()).contains("55000", "replica identity");
        db.execute("truncate docs");
        refused(inJava(), "statement_invalid");
        db.execute("drop publication docs_changes");
        assertThat(preflight(inJava()).errors()).isEmpty();
    }

    @Test
    void a_fragment_that_postgresql_can_not_read_is_refused() {
        assertThat(refused(repairing("name", "title IS"), "statement_invalid").message())
                .contains("42601");
        assertThat(db.queryLong("select count(*) from docs")).isEqualTo(20);
    }

    @Test
    void a_plan_that_reads_the_whole_table_for_each_window_is_refused() { // SR-7
        db.execute("insert into docs select g, g, g, 'n', null, 1 from generate_series(21, 60000) g; analyze docs");
        BackfillDefinition<Long> definition =
                repairing("name || (SELECT count(*) FROM docs AS other WHERE other.n = docs.n)", "title IS NULL");
        assertThat(refused(definition, "plan_reads_table").message()).contains("docs", "each window", "ANALYZE");
    }

    @Test
    void a_sparse_predicate_on_a_large_table_is_let_through() { // SR-7
        db.execute("insert into docs select g, g, g, 'n', 't', 1 from generate_series(21, 60000) g; analyze docs");
        BackfillDefinition<Long> definition = by(Keys.bigint("id"));
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            assertThat(harness.start(definition.id())).isInstanceOf(ActionOutcome.Applied.class);
        }
    }

    @Test
    void what_the_repair_sets_off_is_a_warning_and_no_refusal() {
        db.execute("""
                create function noop() returns trigger language plpgsql as 'begin return new; end';
                create trigger on_title after update of title on docs for each row execute function noop();
                create trigger on_n after update of n on docs for each row execute function noop();
                create trigger on_insert after insert on docs for each row execute function noop();
                alter table docs add column shout text generated always as (upper(title)) stored;
                create table titles (title text primary key);
                alter table docs add constraint docs_title_fk foreign key (title) references titles;
                create table notes (title text);
                create unique index docs_title on docs (title);
                create index docs_partial on docs (n) where title is null;
                alter table notes add constraint notes_title_fk foreign key (title) references docs (title);
                alter table docs set (autovacuum_enabled = off);
                create publication everything for table docs""");
        Preflight preflight = preflight(by(Keys.bigint("id")));
        assertThat(preflight.errors()).isEmpty();
        assertThat(preflight.warnings())
                .extracting(f -> f.code().wireName() + " " + f.subject())
                .containsExactlyInAnyOrder(
                        "trigger_fires on_title",
                        "generated_column_recomputed shout",
                        "foreign_key_checked docs_title_fk",
                        "foreign_key_referenced notes_title_fk",
                        "published everything",
                        "written_column_indexed docs_title",
                        "written_column_indexed docs_partial",
                        "autovacuum_off docs");
        assertThat(preflight.warnings()).allSatisfy(f -> assertThat(f.message()).contains(f.subject()));
    }

    @Test
    void own_code_says_not_what_it_writes_so_every_trigger_is_named() {
        db.execute("create function noop() returns trigger language plpgsql as 'begin return new; end';"
                + " create trigger on_insert after insert on docs for each row execute function noop()");
        BackfillDefinition<Long> definition = Backfill.define(ID)
                .over("docs", Keys.bigint("id"))
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build();
        assertThat(preflight(definition).warnings())
                .extracting(Finding::subject)
                .contains("on_insert");
    }

    @Test
    void open_writers_are_named_before_a_start_waits_for_them() throws Exception { // SR-6
        try (var writer = db.connection();
                var statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("update docs set n = 2 where id = 1");
            assertThat(preflight(by(Keys.bigint("id"))).warnings())
                    .extracting(finding -> finding.code().wireName())
                    .contains("writers_open");
        }
    }

    @Test
    void estimates_say_where_they_come_from_and_are_null_where_nothing_is_known() { // RM-2
        Preflight.Estimates known = preflight(by(Keys.bigint("id"))).estimates();
        assertThat(known.rows()).isEqualTo(20);
        assertThat(known.walBytes()).isGreaterThan(20 * 60);
        assertThat(known.rowsBasis()).contains("statistics");
        assertThat(known.walBasis()).contains("20 rows");
        db.execute("create table fresh (like docs including all)");
        BackfillDefinition<Long> fresh = Backfill.define("fresh.v1")
                .over("fresh", Keys.bigint("id"))
                .repair(Repair.rows().reading("name").writing("title", row -> row.text("name")))
                .validate(Validation.noRowMatches("title IS NULL"))
                .build();
        Preflight unknown = preflight(fresh);
        assertThat(unknown.estimates()).isEqualTo(new Preflight.Estimates(null, null, null, null));
        assertThat(unknown.warnings())
                .extracting(finding -> finding.code().wireName())
                .contains("never_analysed");
    }
}
