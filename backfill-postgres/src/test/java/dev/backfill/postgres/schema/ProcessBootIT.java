package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Real processes that boot at once on the tables of Backfill, and one that is killed on the way. The ten live through the whole
 * class: what races is the boot of an engine, and JVMs that are up already race harder.
 */
@PostgresTest
class ProcessBootIT {

    private static final int PROCESSES = 10;
    private static final int CURRENT = Migration.current(LaterRelease.STEPS);
    private static final List<BootingProcess> FLEET = new ArrayList<>();

    private final TestDatabase db;

    ProcessBootIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeAll
    static void launch(TestDatabase db) throws IOException {
        for (int number = 0; number < PROCESSES; number++) {
            FLEET.add(BootingProcess.start(db.jdbcUrl()));
        }
        for (BootingProcess process : FLEET) {
            assertThat(process.answer()).isEqualTo("READY");
        }
    }

    @AfterAll
    static void end() {
        FLEET.forEach(BootingProcess::close);
        FLEET.clear();
    }

    @BeforeEach
    void empty() {
        Host.items(db, 25);
    }

    @Test
    void ten_processes_boot_at_once_on_an_empty_database() throws IOException { // SC-3, ID-1
        long migrated = stepsBegun();
        expectAllStart();
        assertThat(stepsBegun() - migrated)
                .as("each step was begun by one process")
                .isEqualTo(CURRENT);
    }

    @Test
    void ten_processes_boot_at_once_on_an_old_schema() throws IOException { // SC-3, ID-1
        applied(Migration.ALL);
        long migrated = stepsBegun();
        expectAllStart();
        assertThat(stepsBegun() - migrated).isEqualTo(CURRENT - 1);
    }

    @Test
    void ten_processes_boot_at_once_on_a_schema_one_version_newer() throws IOException { // SC-5
        applied(LaterRelease.STEPS);
        db.execute("alter table backfill add column later integer");
        newer(CURRENT + 1, CURRENT);
        expectAllStart();
    }

    @Test
    void ten_processes_fail_closed_at_once_on_a_schema_that_needs_a_newer_library() throws IOException { // SC-5
        applied(LaterRelease.STEPS);
        db.execute("alter table backfill drop column rows_estimated");
        newer(CURRENT + 1, CURRENT);
        newer(CURRENT + 2, CURRENT + 1);
        all("boot");
        assertThat(all("ask"))
                .hasSize(PROCESSES)
                .allSatisfy(answer -> assertThat(answer)
                        .startsWith("SCHEMA_INCOMPATIBLE")
                        .contains("at version " + (CURRENT + 2))
                        .contains("need a library of schema version " + (CURRENT + 1))
                        .contains("this one is of " + CURRENT));
        all("close");
        assertThat(db.queryLong("select count(*) from backfill"))
                .as("rows registered")
                .isZero();
    }

    @Test
    void a_process_killed_in_mid_migration_leaves_nothing_half_done_and_another_finishes() throws Exception { // SC-3
        BootingProcess next = FLEET.get(0);
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement();
                BootingProcess doomed = BootingProcess.start(db.jdbcUrl())) {
            holder.setAutoCommit(false);
            // The last table of the first step: whoever waits for its name has made the others.
            statement.execute("create table backfill_schema_version (version integer)");
            assertThat(doomed.answer()).isEqualTo("READY");
            doomed.tell("boot");
            Eventually.until("it is in the middle of its first step", () -> waiting("create table") == 1);
            doomed.kill();
            // The server has not noticed: the step of the dead still waits, with its tables, and is waited for.
            next.tell("boot");
            holder.rollback();
        }
        assertThat(next.answer()).isEqualTo("boot done");
        assertThat(next.ask("await")).isEqualTo("await done");
        next.ask("close");
        expectOneWholeSchema();
    }

    @Test
    void a_process_that_can_not_get_its_lock_gives_way_says_so_once_and_tries_again() throws Exception { // SC-3
        applied(Migration.ALL);
        BootingProcess process = FLEET.get(0);
        long begun = stepsBegun();
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("lock table backfill_audit in access exclusive mode");
            process.tell("boot");
            Eventually.until("it waits", () -> waiting("create index") == 1);
            Eventually.until("it gives way", () -> waiting("create index") == 0);
            assertThat(process.answer()).isEqualTo("boot done");
            assertThat(process.ask("ask")).startsWith("BUSY").contains("V002__later.sql");
            Eventually.until("it tries again", () -> waiting("create index") == 1);
            holder.rollback();
        }
        assertThat(process.ask("await")).isEqualTo("await done");
        process.ask("close");
        assertThat(stepsBegun() - begun).isEqualTo(1);
        expectOneWholeSchema();
    }

    private void applied(List<Migration> steps) {
        try (Backfills first = Host.ofVersion(db, SchemaMode.MIGRATE, steps)) {
            Host.awaitStarted(first);
        }
        db.execute("delete from backfill");
    }

    private void newer(int version, int safeFrom) {
        db.execute(
                "insert into backfill_schema_version (version, name, safe_from, library_version) values (?, 'later', ?, '9')",
                version,
                safeFrom);
    }

    /** One word to all of them before the first answer is waited for. */
    private static List<String> all(String command) throws IOException {
        FLEET.forEach(process -> process.tell(command));
        List<String> answers = new ArrayList<>();
        for (BootingProcess process : FLEET) {
            answers.add(process.answer());
        }
        return answers;
    }

    private void expectAllStart() throws IOException {
        all("boot");
        assertThat(all("await")).hasSize(PROCESSES).containsOnly("await done");
        all("close");
        expectOneWholeSchema();
    }

    private void expectOneWholeSchema() {
        assertThat(db.queryTexts("select version from backfill_schema_version where version <= ? order by 1", CURRENT))
                .isEqualTo(LaterRelease.STEPS.stream()
                        .map(step -> Integer.toString(step.version()))
                        .toList());
        assertThat(db.queryText("select to_regclass(?)", LaterRelease.INDEX)).isEqualTo(LaterRelease.INDEX);
        assertThat(db.queryTexts("select id from backfill")).containsExactly(Host.ID.value()); // ID-1
        assertThat(db.queryLong("select count(*) from pg_locks where locktype = 'advisory'"
                        + " and database = (select oid from pg_database where datname = current_database())"))
                .as("advisory locks left")
                .isZero();
    }

    private static long stepsBegun() {
        return FLEET.stream()
                .flatMap(process -> process.log().lines())
                .filter(line -> line.contains("Migrating the tables of Backfill"))
                .count();
    }

    /** Sessions that wait for a lock in a statement with these words. */
    private long waiting(String words) {
        return db.queryLong(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
                        + " and wait_event_type = 'Lock' and query ilike ?",
                "%" + words + "%");
    }
}
