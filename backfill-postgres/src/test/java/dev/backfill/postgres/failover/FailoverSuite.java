package dev.backfill.postgres.failover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Asynchronous failovers that lose commits: {@code mvn -Pfailover verify}. The witness is a repair that is not idempotent, counted by
 * queries of its own. Run by the profile only; needs PostgreSQL's programs, which {@code -Dpg.bin} names.
 */
class FailoverSuite {

    private static final String ID = "counters.n.v1";
    private static final String WRONG = """
            select count(*) from counters as c, (select coalesce(checkpoint[1]::bigint, 0) as at from backfill) as b
            where c.n <> CASE WHEN c.id <= b.at THEN 1 ELSE 0 END""";

    private final List<Backfills> hosts = new ArrayList<>();
    private Node primary;
    private Node standby;

    @BeforeEach
    void a_primary_and_a_standby() throws Exception {
        Path bin = Path.of(System.getProperty("pg.bin", "/usr/lib/postgresql/15/bin"));
        Assumptions.assumeTrue(
                Files.isExecutable(bin.resolve("pg_rewind")),
                "No PostgreSQL programs in " + bin + ": name their directory with -Dpg.bin");
        Path directory = Files.createTempDirectory("backfill-failover");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        primary = Node.in(bin, directory, "one");
        standby = Node.in(bin, directory, "two");
        primary.initialize();
        primary.start();
    }

    @AfterEach
    void stop() throws Exception {
        hosts.forEach(Backfills::close);
        if (standby != null) {
            primary.stopQuietly();
            standby.stopQuietly();
        }
    }

    @Test
    void twenty_failovers_that_lose_batches_lose_and_repeat_no_row() throws Exception { // AT-1, RB-3, SR-6
        rows(200_000);
        standby.copyOf(primary);
        standby.start();
        host("a");
        host("b");
        List<Long> recovered = new ArrayList<>();
        int failovers = Integer.getInteger("failover.times", 20);
        for (int i = 0; i < failovers; i++) {
            awaitBatches(3);
            Eventually.until(
                    "the standby follows", () -> !"0".equals(standby.ask("select count(*) from pg_stat_wal_receiver")));
            standby.cutOff();
            awaitBatches(4);
            failOver();
            recovered.add(awaitBatches(1));
            assertThat(primary.ask(WRONG))
                    .as("rows not repaired once, after failover %s", i)
                    .isEqualTo("0");
            standby.rewindTo(primary);
        }
        report("a batch lost, lease 30 s", recovered);
        assertThat(recovered).as("ms from the first answer to a batch").allMatch(ms -> ms < 15_000);
    }

    @Test
    void a_completion_that_is_lost_closes_the_gate_until_it_is_done_again() throws Exception { // SC-6, VA-1
        rows(200);
        standby.copyOf(primary);
        standby.start();
        Backfills host = host("a");
        awaitBatches(2);
        standby.cutOff();
        Eventually.within(Duration.ofMinutes(1))
                .holds("it is open", () -> host.readiness().isOpen());
        failOver();
        Eventually.within(Duration.ofMinutes(1)).holds("it is completed again", () -> {
            boolean open = host.readiness().isOpen();
            String state = primary.ask("select state from backfill");
            return open && state.equals("completed");
        });
        assertThat(primary.ask("select count(*) from counters where n <> 1")).isEqualTo("0");
    }

    @Test
    void a_registration_and_a_start_that_are_lost_are_done_again() throws Exception { // RB-3, LC-4
        rows(200);
        standby.copyOf(primary);
        standby.start();
        standby.cutOff();
        Backfills host = host("a");
        awaitBatches(2);
        failOver();
        Eventually.within(Duration.ofMinutes(1))
                .holds("it is open", () -> host.readiness().isOpen());
        assertThat(primary.ask("select count(*) from counters where n <> 1")).isEqualTo("0");
    }

    @Test
    void a_completed_backfill_is_not_ready_while_there_is_only_a_standby() throws Exception { // CF-2
        rows(40);
        standby.copyOf(primary);
        standby.start();
        Backfills host = host("a");
        Eventually.within(Duration.ofMinutes(1))
                .holds("it is open", () -> host.readiness().isOpen());
        primary.kill();
        Eventually.within(Duration.ofSeconds(10))
                .holds("it is not open", () -> !host.readiness().isOpen());
        standby.promote();
        Node former = primary;
        primary = standby;
        standby = former;
        Eventually.within(Duration.ofSeconds(20))
                .holds("it is open again", () -> host.readiness().isOpen());
    }

    @Test
    void a_server_that_takes_no_writes_for_a_while_is_waited_for() throws Exception { // RB-3
        rows(2_000);
        host("a");
        awaitBatches(2);
        primary.execute("alter system set default_transaction_read_only = on");
        primary.execute("select pg_reload_conf()");
        Eventually.within(Duration.ofSeconds(10)).holds("nothing is committed", () -> {
            String before = primary.ask("select batches from backfill");
            primary.ask("select pg_sleep(1)");
            return before.equals(primary.ask("select batches from backfill"));
        });
        primary.execute("alter system reset default_transaction_read_only");
        primary.execute("select pg_reload_conf()");
        report("read only for a while, lease 30 s", List.of(awaitBatches(1)));
        assertThat(primary.ask(WRONG)).isEqualTo("0");
    }

    @Test
    void a_physical_copy_that_wakes_up_beside_its_original_waits_and_touches_nothing() throws Exception { // SR-6
        rows(2_000);
        host("a");
        awaitBatches(2);
        standby.copyOf(primary);
        standby.start();
        standby.cutOff();
        standby.promote();
        String copied = standby.ask("select checkpoint::text from backfill");
        assertThat(standby.ask(WRONG)).isEqualTo("0");
        awaitBatches(3);
        assertThat(standby.ask("select checkpoint::text from backfill")).isEqualTo(copied);
        assertThat(primary.ask(WRONG)).isEqualTo("0");
    }

    private void rows(int count) throws Exception {
        primary.execute("create table counters (id bigint primary key, n int not null default 0)");
        primary.execute("insert into counters (id) select generate_series(1, " + count + ")");
        primary.execute("create function slow() returns trigger language plpgsql as"
                + " 'begin perform pg_sleep(0.05); return null; end'");
        primary.execute("create trigger slow after update on counters for each statement execute function slow()");
    }

    private Backfills host(String name) {
        String url = "jdbc:postgresql://" + primary.address() + "," + standby.address()
                + "/postgres?user=postgres&targetServerType=primary&hostRecheckSeconds=1&connectTimeout=2&loginTimeout=2";
        BackfillDefinition<Long> counting = Backfill.define(ID)
                .over("counters", Keys.bigint("id"))
                .batchSize(20)
                .repair(Repair.update().set("n", "n + 1").where("true"))
                .validate(Validation.noRowMatches("n <> 1"))
                .build();
        Backfills host = PostgresBackfills.on(() -> DriverManager.getConnection(url))
                .definitions(counting)
                .requiredAtStartup(ID)
                .schema(SchemaMode.MIGRATE)
                .processName(name)
                .options(EngineOptions.builder().workers(1).build())
                .startup();
        hosts.add(host);
        return host;
    }

    private void failOver() throws Exception {
        primary.kill();
        standby.promote();
        Node former = primary;
        primary = standby;
        standby = former;
    }

    /** How many milliseconds it took until that many more batches were committed on the primary. */
    private long awaitBatches(int more) {
        long began = System.nanoTime();
        long[] first = {-1};
        Eventually.within(Duration.ofMinutes(1)).holds(more + " more batches", () -> {
            if (primary.ask("select to_regclass('backfill')").isEmpty()) {
                return false;
            }
            String batches = primary.ask("select batches from backfill");
            long now = batches.isEmpty() ? 0 : Long.parseLong(batches);
            if (first[0] < 0) {
                first[0] = now;
            }
            return now >= first[0] + more;
        });
        return (System.nanoTime() - began) / 1_000_000;
    }

    private static void report(String fault, List<Long> recovered) throws IOException {
        List<Long> sorted = recovered.stream().sorted().toList();
        String line = "| " + fault + " | " + sorted.size() + " | " + sorted.get(sorted.size() / 2) + " ms | "
                + sorted.get(sorted.size() - 1) + " ms |\n";
        String head = "| fault | times | median until a batch | longest |\n|---|---|---|---|\n";
        String name = System.getProperty("failover.report", "");
        if (!name.isEmpty()) {
            Path file = Path.of(name);
            boolean begun = Files.exists(file);
            Files.writeString(file, begun ? line : head + line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        System.out.print(head + line);
    }
}
