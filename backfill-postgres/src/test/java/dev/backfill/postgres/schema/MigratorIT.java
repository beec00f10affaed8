package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.internal.migrate.Migrator;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.startup.Host;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many processes, old and new schemas, crashes and locks on the way to the library's tables. */
@PostgresTest
class MigratorIT {

    private static final List<Migration> OLD = Migration.ALL;
    private static final List<Migration> STEPS = LaterRelease.STEPS;
    private static final int CURRENT = Migration.current(STEPS);

    private final TestDatabase db;

    MigratorIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void empty() {
        Host.items(db, 25);
    }

    /** What ten processes find. */
    enum Found {
        EMPTY,
        OLD,
        NEWER;

        void prepare(MigratorIT it) {
            switch (this) {
                case EMPTY -> {}
                case OLD -> it.applied(MigratorIT.OLD);
                case NEWER -> {
                    it.applied(STEPS);
                    it.newer(CURRENT);
                }
            }
        }
    }

    private void applied(List<Migration> steps) {
        try (Backfills first = Host.ofVersion(db, SchemaMode.MIGRATE, steps)) {
            Host.awaitStarted(first);
        }
    }

    private void newer(int safeFrom) {
        db.execute(
                "insert into backfill_schema_version (version, name, safe_from, library_version) values (?, 'later', ?, '9')",
                CURRENT + 1,
                safeFrom);
    }

    @ParameterizedTest
    @EnumSource(Found.class)
    void ten_processes_that_boot_at_once_all_come_up_on_one_schema(Found found) throws Exception { // SC-3, SC-5
        found.prepare(this);
        List<Backfills> engines = Race.of(10).run(number -> Host.ofVersion(db, SchemaMode.MIGRATE, STEPS));
        try {
            engines.forEach(Host::awaitStarted);
        } finally {
            engines.forEach(Backfills::close);
        }
        assertThat(db.queryTexts("select version from backfill_schema_version where version <= ? order by 1", CURRENT))
                .containsExactly("1", "2");
        assertThat(db.queryLong("select count(*) from pg_index where not indisvalid"))
                .isZero();
        assertThat(db.queryTexts("select id from backfill")).containsExactly(Host.ID.value()); // ID-1
    }

    @Test
    void a_process_killed_in_mid_migration_leaves_nothing_and_another_goes_on() throws Exception { // SC-3
        try (Connection killed = db.connection();
                Statement statement = killed.createStatement()) {
            killed.setAutoCommit(false);
            statement.execute("select pg_advisory_xact_lock(1113678699, hashtext('public'))");
            statement.execute("create table backfill (id varchar(128))");
            try (Backfills waiting = Host.ofVersion(db, SchemaMode.MIGRATE, STEPS)) {
                assertThatThrownBy(waiting::requireStarted).isInstanceOf(BackfillUnavailableException.class);
                assertThat(waiting.readiness().isOpen()).isFalse();
                db.killSessions();
                Host.awaitStarted(waiting);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "default_transaction_isolation = 'repeatable read'",
                "default_transaction_isolation = 'serializable'",
                "lock_timeout = '1ms'",
                "search_path = 'pg_catalog'"
            })
    void ten_processes_migrate_whatever_their_sessions_default_to(String setting) throws Exception { // SC-3
        applied(OLD);
        try (Connection reader = db.connection();
                Statement statement = reader.createStatement()) {
            // A dump or a report: an old snapshot of the whole database.
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.execute("select count(*) from items");
            List<Boolean> done = Race.of(10).run(number -> {
                Migrator migrator = new Migrator(new Sessions(defaulting(setting), true), new Names("public"), STEPS);
                return migrator.migrate();
            });
            assertThat(done).contains(true);
        }
        assertThat(db.queryTexts("select version from backfill_schema_version order by 1"))
                .containsExactly("1", "2");
    }

    private ConnectionSource defaulting(String setting) {
        return () -> {
            Connection connection = DriverManager.getConnection(db.directUrl());
            try (Statement statement = connection.createStatement()) {
                statement.execute("set " + setting);
            }
            return connection;
        };
    }

    @Test
    void a_migration_that_can_not_get_its_lock_gives_way_says_so_and_tries_again() throws Exception { // SC-3
        applied(OLD);
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("lock table backfill_audit in access exclusive mode");
            try (Backfills engine = Host.ofVersion(db, SchemaMode.MIGRATE, STEPS)) {
                Eventually.until("it says what it waits for", () -> {
                    try {
                        engine.requireStarted();
                        return false;
                    } catch (BackfillUnavailableException e) {
                        return e.reason() == Reason.BUSY && e.getMessage().contains("V002__later.sql");
                    }
                });
                assertThat(engine.readiness().isOpen()).isFalse();
                assertThat(db.queryText("select to_regclass('" + LaterRelease.INDEX + "')"))
                        .isNull();
                holder.rollback();
                Host.awaitStarted(engine);
            }
        }
    }

    @Test
    void a_missing_privilege_is_named_with_its_remedy() { // SC-3
        String role = db.name() + "_role";
        db.execute("create role " + role);
        db.execute("grant usage on schema public to " + role);
        try (Backfills engine = Host.ofVersion(
                () -> {
                    // Past a pooler, which would lend the session and its role to everybody.
                    Connection connection = DriverManager.getConnection(db.directUrl());
                    try (Statement statement = connection.createStatement()) {
                        statement.execute("set role " + role);
                    }
                    return connection;
                },
                SchemaMode.MIGRATE,
                STEPS)) {
            unavailable(engine, Reason.PRIVILEGE_MISSING, "Grant CREATE");
        } finally {
            db.execute("drop owned by " + role);
            db.execute("drop role " + role);
        }
    }

    @ParameterizedTest
    @EnumSource(SchemaMode.class)
    void a_schema_that_does_not_exist_is_named_and_not_created(SchemaMode mode) { // SC-3
        try (Backfills engine = Host.start(db, mode, b -> b.schemaName("nowhere"))) {
            unavailable(engine, Reason.SCHEMA_MISSING, "Schema nowhere does not exist");
            OperatorRequest start = new OperatorRequest(Host.ID, "nowhere", Host.OPERATOR, null);
            assertThatThrownBy(() -> engine.operations().start(start))
                    .isInstanceOf(BackfillUnavailableException.class)
                    .message()
                    .as("migrating would not help")
                    .contains("Schema nowhere does not exist", "Create it", "grant")
                    .doesNotContain("SchemaMode");
        }
        assertThat(db.queryText("select to_regnamespace('nowhere')")).isNull();
    }

    @Test
    void the_published_sql_applied_by_another_tool_is_all_that_verify_needs() { // SC-3
        for (Migration migration : STEPS) {
            db.execute(migration.text());
        }
        try (Backfills engine = Host.ofVersion(db, SchemaMode.VERIFY, STEPS)) {
            Host.awaitStarted(engine);
        }
    }

    @Test
    void a_schema_with_a_name_of_mixed_case_holds_everything() { // SC-3
        db.execute("drop schema if exists \"My \"\"App\" cascade");
        db.execute("create schema \"My \"\"App\"");
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Host.doubling(Host.ID.value()))
                .schemaName("My \"App")
                .open()) {
            harness.runToCompletion(Host.ID);
            assertThat(harness.auditRecords(Host.ID)).isNotEmpty();
        }
        assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                .isEqualTo(25);
        assertThat(db.queryTexts("select relname from pg_class where relnamespace = 'public'::regnamespace"
                        + " and relname like 'backfill%'"))
                .isEmpty();
    }

    @Test
    void verify_fails_closed_where_the_tables_are_missing() { // CF, SC-5
        try (Backfills engine = Host.ofVersion(db, SchemaMode.VERIFY, STEPS)) {
            unavailable(engine, Reason.SCHEMA_MISSING, "SchemaMode.MIGRATE");
        }
        assertThat(db.queryText("select to_regclass('backfill')")).isNull();
    }

    @Test
    void verify_fails_closed_on_an_old_schema_naming_both_versions() { // SC-5
        applied(OLD);
        try (Backfills engine = Host.ofVersion(db, SchemaMode.VERIFY, STEPS)) {
            unavailable(engine, Reason.SCHEMA_INCOMPATIBLE, "at version 1, this library needs version " + CURRENT);
        }
    }

    @Test
    void a_step_that_another_tool_left_out_is_missed_although_a_later_one_is_there() { // SC-5
        applied(STEPS);
        db.execute("delete from backfill_schema_version where version = 2");
        newer(1);
        try (Backfills engine = Host.ofVersion(db, SchemaMode.VERIFY, STEPS)) {
            unavailable(engine, Reason.SCHEMA_INCOMPATIBLE, "V002__later.sql was not applied");
        }
        applied(STEPS);
    }

    @ParameterizedTest
    @EnumSource(SchemaMode.class)
    void a_newer_schema_that_is_not_safe_fails_closed_naming_both_versions(SchemaMode mode) { // SC-5
        applied(STEPS);
        newer(CURRENT + 1);
        try (Backfills engine = Host.ofVersion(db, mode, STEPS)) {
            unavailable(
                    engine,
                    Reason.SCHEMA_INCOMPATIBLE,
                    "need a library of schema version " + (CURRENT + 1) + " or newer; this one is of " + CURRENT);
        }
    }

    @Test
    void the_version_before_works_on_the_schema_of_the_version_after() { // SC-3, SC-5
        Host.items(db, 25);
        applied(STEPS);
        try (Backfills old = Host.ofVersion(db, SchemaMode.VERIFY, OLD)) {
            Host.awaitStarted(old);
            WholeLife.of(old, Host.ID);
        }
        assertThat(Host.state(db, Host.ID)).isEqualTo("completed");
    }

    private static void unavailable(Backfills engine, Reason reason, String words) {
        assertThatThrownBy(engine::requireStarted)
                .isInstanceOfSatisfying(
                        BackfillUnavailableException.class,
                        e -> assertThat(e.reason()).isEqualTo(reason))
                .hasMessageContaining(words);
        Readiness readiness = engine.readiness();
        assertThat(readiness.isOpen()).isFalse();
        assertThat(readiness.database().ok()).isTrue();
        assertThat(readiness.schema().status()).isEqualTo(Readiness.Status.CLOSED);
        if (reason != Reason.PRIVILEGE_MISSING) {
            OperatorRequest start = new OperatorRequest(Host.ID, "too-early", Host.OPERATOR, null);
            assertThatThrownBy(() -> engine.operations().start(start))
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            refused -> assertThat(refused.reason()).isEqualTo(reason));
        }
    }
}
