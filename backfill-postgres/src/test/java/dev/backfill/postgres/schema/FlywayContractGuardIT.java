package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.ContractGuard;
import dev.backfill.postgres.FlywayContractGuard;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Statement;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.migration.BaseJavaMigration;
import org.flywaydb.core.api.migration.Context;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract guard with the real Flyway. */
@PostgresTest
class FlywayContractGuardIT {

    private static final String ID = Host.ID.value();

    private final TestDatabase db;

    @TempDir
    Path migrations;

    FlywayContractGuardIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void running() throws Exception {
        Rows.in(db, BackfillState.RUNNING, ID);
        Files.writeString(migrations.resolve("V6__expand.sql"), "alter table items add column expanded int;");
        Files.writeString(
                migrations.resolve("V7__contract.sql"),
                "alter table items add column xid_of_migration bigint default pg_current_xact_id()::text::bigint;\n"
                        + "alter table items drop column n;");
    }

    private FluentConfiguration flyway() {
        return Flyway.configure()
                .dataSource(db.dataSource())
                .baselineOnMigrate(true)
                .baselineVersion("1")
                .locations("filesystem:" + migrations);
    }

    private static Callback guard(ContractGuard guard) {
        return FlywayContractGuard.before("7", guard).callback();
    }

    private boolean has(String column) {
        return db.queryBoolean(
                "select exists (select 1 from pg_attribute where attrelid = 'items'::regclass and attname = ? and not attisdropped)",
                column);
    }

    @Test
    void a_guarded_sql_migration_waits_for_its_backfill_and_those_before_it_do_not() { // SC-4
        Flyway flyway = flyway()
                // region flyway-callback
                .callbacks(FlywayContractGuard.before(
                                "7", ContractGuard.of("items.doubled.v1").over("items"))
                        .callback())
                // endregion
                .load();
        assertThatThrownBy(flyway::migrate).hasStackTraceContaining(ID + " is running");
        assertThat(has("expanded")).isTrue();
        assertThat(has("n")).isTrue();
        assertThat(has("xid_of_migration")).isFalse();
        db.execute("update backfill set state = 'completed', completed_at = now()");
        flyway.migrate();
        assertThat(has("n")).isFalse();
    }

    @Test
    void the_guard_speaks_in_the_transaction_of_the_migration_itself() { // SC-4
        db.execute("update backfill set state = 'completed', completed_at = now()");
        db.execute("create table seen (xid bigint)");
        flyway().callbacks(guard(ContractGuard.of(ID)), new TransactionWitness())
                .load()
                .migrate();
        assertThat(db.queryLong("select xid_of_migration from items limit 1"))
                .isEqualTo(db.queryLong("select xid from seen"));
    }

    @Test
    void flyway_applies_the_published_migrations_as_they_are() throws Exception { // SC-3
        Host.items(db, 25);
        for (Migration migration : Migration.ALL) {
            Files.writeString(migrations.resolve("V5." + migration.version() + "__backfill.sql"), migration.text());
        }
        flyway().target("5.1").load().migrate();
        try (Backfills engine = Host.start(db, SchemaMode.VERIFY, b -> {})) {
            Host.awaitStarted(engine);
        }
    }

    @Test
    void a_java_migration_calls_the_guard_itself() { // SC-4
        Flyway flyway = flyway().locations("filesystem:" + migrations.resolve("none"))
                .failOnMissingLocations(false)
                .javaMigrations(new V8__DropN())
                .load();
        assertThatThrownBy(flyway::migrate).hasStackTraceContaining(ID + " is running");
        assertThat(has("n")).isTrue();
        db.execute("update backfill set state = 'completed', completed_at = now()");
        flyway.migrate();
        assertThat(has("n")).isFalse();
    }

    @Test
    void tables_in_a_schema_of_their_own_are_found_there() { // SC-4
        db.execute("drop schema if exists lib cascade; create schema lib; alter table backfill set schema lib");
        Flyway flyway =
                flyway().callbacks(guard(ContractGuard.of(ID).inSchema("lib"))).load();
        assertThatThrownBy(flyway::migrate).hasStackTraceContaining(ID + " is running");
        db.execute("update lib.backfill set state = 'completed', completed_at = now()");
        flyway.migrate();
        assertThat(has("n")).isFalse();
    }

    @Test
    void a_new_database_is_migrated_in_one_go_and_one_with_rows_to_repair_is_not() { // SC-4
        db.execute("delete from backfill");
        assertThatThrownBy(() -> flyway().callbacks(guard(ContractGuard.of(ID).over("items")))
                        .load()
                        .migrate())
                .hasStackTraceContaining(ID + " is not registered");
        assertThat(has("n")).isTrue();
        db.execute("delete from items");
        flyway().callbacks(guard(ContractGuard.of(ID).over("items"))).load().migrate();
        assertThat(has("n")).isFalse();
    }

    // region flyway-java
    static final class V8__DropN extends BaseJavaMigration {
        @Override
        public void migrate(Context context) throws Exception {
            ContractGuard.requireCompleted(context.getConnection(), "items.doubled.v1");
            try (Statement statement = context.getConnection().createStatement()) {
                statement.execute("ALTER TABLE items DROP COLUMN n");
            }
        }
    }
    // endregion
}
