package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.resource.ResourceAccessor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract guard with the real Liquibase. */
@PostgresTest
class LiquibaseContractGuardIT {

    private static final String ID = Host.ID.value();

    private final TestDatabase db;

    @TempDir
    Path changeLogs;

    LiquibaseContractGuardIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeAll
    static void withoutTelemetry() {
        System.setProperty("liquibase.analytics.enabled", "false");
    }

    @BeforeEach
    void running() {
        Rows.in(db, BackfillState.RUNNING, ID);
    }

    private void update(String ids, String schemaParameter) throws Exception {
        Files.writeString(changeLogs.resolve("changelog.xml"), """
                <databaseChangeLog xmlns="http://www.liquibase.org/xml/ns/dbchangelog"
                    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                    xsi:schemaLocation="http://www.liquibase.org/xml/ns/dbchangelog
                      http://www.liquibase.org/xml/ns/dbchangelog/dbchangelog-latest.xsd">
                  <changeSet id="6" author="host">
                    <addColumn tableName="items"><column name="expanded" type="int"/></addColumn>
                  </changeSet>
                  <changeSet id="7" author="host">
                    <preConditions>
                      <customPrecondition className="dev.backfill.postgres.LiquibaseContractGuard">
                        <param name="ids" value="%s"/>%s
                      </customPrecondition>
                    </preConditions>
                    <dropColumn tableName="items" columnName="n"/>
                  </changeSet>
                </databaseChangeLog>
                """.formatted(ids, schemaParameter));
        apply("changelog.xml", new DirectoryResourceAccessor(changeLogs));
    }

    private void apply(String changeLog, ResourceAccessor files) throws Exception {
        try (Connection connection = db.connection()) {
            Database database =
                    DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
            new Liquibase(changeLog, files, database).update(new Contexts());
        } finally {
            files.close();
        }
    }

    private boolean has(String column) {
        return db.queryBoolean(
                "select exists (select 1 from pg_attribute where attrelid = 'items'::regclass and attname = ? and not attisdropped)",
                column);
    }

    @Test
    void liquibase_applies_the_published_change_log_as_it_is() throws Exception { // SC-3
        Host.items(db, 25);
        apply("dev/backfill/postgres/schema/liquibase.xml", new ClassLoaderResourceAccessor());
        try (Backfills engine = Host.start(db, SchemaMode.VERIFY, b -> {})) {
            Host.awaitStarted(engine);
        }
    }

    @Test
    void a_guarded_change_set_waits_for_its_backfill_and_those_before_it_do_not() throws Exception { // SC-4
        assertThatThrownBy(() -> update(ID, "")).hasStackTraceContaining(ID + " is running");
        assertThat(has("expanded")).isTrue();
        assertThat(has("n")).isTrue();
        db.execute("update backfill set state = 'completed', completed_at = now()");
        update(ID, "");
        assertThat(has("n")).isFalse();
    }

    @Test
    void unknown_ids_and_a_missing_table_halt_the_change_set() throws Exception { // SC-4
        db.execute("update backfill set state = 'completed', completed_at = now()");
        assertThatThrownBy(() -> update(ID + ", other.v1", "")).hasStackTraceContaining("other.v1 is not registered");
        db.execute("alter table backfill rename to gone");
        assertThatThrownBy(() -> update(ID, "")).hasStackTraceContaining("no table backfill");
        assertThat(has("n")).isTrue();
    }

    @Test
    void tables_in_a_schema_of_their_own_are_found_there() throws Exception { // SC-4
        db.execute("drop schema if exists lib cascade; create schema lib; alter table backfill set schema lib");
        String parameter = "<param name=\"schema\" value=\"lib\"/>";
        assertThatThrownBy(() -> update(ID, parameter)).hasStackTraceContaining(ID + " is running");
        db.execute("update lib.backfill set state = 'completed', completed_at = now()");
        update(ID, parameter);
        assertThat(has("n")).isFalse();
    }

    @Test
    void a_new_database_is_migrated_in_one_go() throws Exception { // SC-4
        db.execute("delete from backfill; delete from items");
        update(ID, "<param name=\"source\" value=\"items\"/>");
        assertThat(has("n")).isFalse();
    }
}
