package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The readiness gate, and who starts what. */
@PostgresTest
class GateIT {

    private static final BackfillId LATE = BackfillId.of("items.late.v1");

    private final TestDatabase db;

    GateIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Host.items(db, 25);
    }

    private Backfills automatic(String... more) {
        return Host.start(
                db,
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value()).requiredAtStartup(more));
    }

    @Test
    void a_required_id_that_appears_late_never_yields_a_ready_interval() throws Exception { // CF-2
        try (Backfills first = automatic()) {
            Host.awaitOpen(first);
        }
        AtomicInteger looks = new AtomicInteger();
        try (FaultProxy network = FaultProxy.before(db.jdbcUrl())) {
            network.down();
            // Nothing is known when this returns, so that every answer from the very first on can be looked at.
            try (Backfills next = Host.start(
                    Host.source(network.jdbcUrl()),
                    SchemaMode.MIGRATE,
                    b -> b.definitions(Host.doubling(LATE.value())).requiredAtStartup(Host.ID.value(), LATE.value()))) {
                assertThat(next.readiness().isOpen()).isFalse();
                network.heal();
                Eventually.until("it is ready", () -> {
                    boolean open = next.readiness().isOpen();
                    looks.incrementAndGet();
                    if (open) {
                        assertThat(Host.state(db, LATE)).isEqualTo("completed");
                    }
                    return open;
                });
            }
        }
        assertThat(looks).hasPositiveValue();
    }

    @ParameterizedTest
    @CsvSource({
        "key_codec = 'v1:integer', its key is stored as another type",
        "contract = 99, its row was written by another version of this library"
    })
    void a_completed_row_that_this_process_can_not_read_does_not_open_the_gate(
            String change, String why) { // ID-5, CF-1
        try (Backfills first = automatic()) {
            Host.awaitOpen(first);
        }
        db.execute("update backfill set " + change);
        try (Backfills next = automatic()) {
            Host.awaitStarted(next);
            Readiness.Input backfills = next.readiness().backfills();
            assertThat(backfills.ok()).isFalse();
            assertThat(backfills.reason()).contains(Host.ID + " is completed, but " + why);
            // Operators are told the same.
            Overview overview = next.operations().list(Host.OPERATOR);
            assertThat(overview.isOpen()).isFalse();
            assertThat(overview.closedBy()).singleElement().satisfies(closing -> {
                assertThat(closing.id()).isEqualTo(Host.ID);
                assertThat(closing.state()).isEqualTo(BackfillState.COMPLETED);
                assertThat(closing.code()).isEqualTo("unknown_here");
            });
        }
    }

    @Test
    void a_required_backfill_that_can_not_be_started_keeps_no_worker_from_the_others() { // CF-3, CF-5
        try (Backfills before = Host.start(
                db, SchemaMode.MIGRATE, b -> b.options(Host.quick().workers(0).build()))) {
            Host.awaitStarted(before);
            before.operations().start(new OperatorRequest(Host.ID, "go", Host.OPERATOR, null));
        }
        AtomicBoolean repaired = new AtomicBoolean();
        try (Backfills next = Host.start(
                db,
                SchemaMode.MIGRATE,
                b -> b.definitions(Host.doubling(LATE.value()))
                        .requiredAtStartup(LATE.value())
                        .audit((tx, entry) -> {
                            if (LATE.equals(entry.id()) && !repaired.get()) {
                                throw new IllegalStateException("no record, no start");
                            }
                        }))) {
            Eventually.until("the one that runs is completed", () -> "completed".equals(Host.state(db, Host.ID)));
            assertThat(Host.state(db, LATE)).isEqualTo("pending");
            Eventually.until(
                    "readiness says why",
                    () -> String.valueOf(next.readiness().backfills().reason())
                            .contains("audit record could not be written"));
            assertThatThrownBy(next::requireStarted).isInstanceOf(BackfillUnavailableException.class);
            repaired.set(true);
            Host.awaitOpen(next);
        }
    }

    @Test
    void a_source_of_connections_that_throws_is_unknown_and_not_thrown_on() { // CF-2
        AtomicBoolean broken = new AtomicBoolean();
        try (Backfills backfills = Host.start(
                () -> {
                    if (broken.get()) {
                        throw new IllegalStateException("a defect of the host's pool");
                    }
                    return db.get();
                },
                SchemaMode.MIGRATE,
                b -> {})) {
            Host.awaitStarted(backfills);
            broken.set(true);
            Eventually.until(
                    "the answer that was shared is old",
                    () -> !backfills.readiness().isOpen());
            assertThat(backfills.readiness().database().reason())
                    .contains("IllegalStateException")
                    .doesNotContain("defect");
        }
    }

    @Test
    void a_required_row_of_a_newer_library_is_left_alone_and_holds_up_nothing_else() { // ID-5
        try (Backfills first = Host.start(db, SchemaMode.MIGRATE, b -> {})) {
            Host.awaitStarted(first);
        }
        db.execute("update backfill set contract = 99");
        try (Backfills next = Host.start(
                db,
                SchemaMode.MIGRATE,
                b -> b.definitions(Host.doubling(LATE.value())).requiredAtStartup(Host.ID.value(), LATE.value()))) {
            Eventually.until("the other is completed", () -> "completed".equals(Host.state(db, LATE)));
            assertThat(Host.state(db, Host.ID)).isEqualTo("pending");
            assertThat(next.readiness().backfills().reason())
                    .contains(
                            Host.ID + " is pending, but its row was written by another version of this library",
                            "(unknown_here)");
        }
    }

    @Test
    void a_definition_that_ships_with_its_write_path_is_refused_in_the_required_set() { // CF-7
        BackfillDefinition<Long> young =
                Host.draft("items.young.v1").shipsWithWritePath().build();
        assertThatThrownBy(() -> Host.start(
                        db, SchemaMode.MIGRATE, b -> b.definitions(young).requiredAtStartup("items.young.v1")))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("items.young.v1")
                .hasMessageContaining("write path")
                .hasMessageContaining("release after");
        try (Backfills manual = Host.start(db, SchemaMode.MIGRATE, b -> b.definitions(young))) {
            Host.awaitStarted(manual);
            assertThat(Host.state(db, young.id())).isEqualTo("pending");
        }
    }

    @Test
    void ten_replicas_start_what_is_required_once_with_one_bound() throws Exception { // CF-2, IK-2
        List<Backfills> replicas = Race.of(10).run(number -> automatic());
        try {
            replicas.forEach(Host::awaitOpen);
        } finally {
            replicas.forEach(Backfills::close);
        }
        assertThat(Host.startsAudited(db)).isEqualTo(1);
        assertThat(db.queryText("select bound from backfill")).isEqualTo("{25}");
        assertThat(db.queryLong("select count(*) from backfill_audit where action = 'start'"))
                .isEqualTo(1);
    }

    @Test
    void ten_replicas_of_a_host_that_starts_by_itself_converge_on_one_start() throws Exception { // IK-2
        try (Backfills engine = Host.start(
                db, SchemaMode.MIGRATE, b -> b.options(Host.quick().workers(0).build()))) {
            Host.awaitStarted(engine);
            Map<String, Long> outcomes = race(engine, BackfillAction.START);
            assertThat(outcomes).containsOnly(Map.entry("Applied", 1L), Map.entry("Converged", 9L));
            Map<String, Object> bound = Map.copyOf(
                    db.queryRows("select bound::text, bound_captured_at::text, generation::text from backfill")
                            .get(0));
            assertThat(race(engine, BackfillAction.START)).containsOnly(Map.entry("Converged", 10L));
            assertThat(db.queryRows("select bound::text, bound_captured_at::text, generation::text from backfill")
                            .get(0))
                    .isEqualTo(bound);
            assertThat(db.queryLong(
                            "select count(*) from backfill_audit where authority = 'host' and outcome = 'applied'"))
                    .isEqualTo(1);
            race(engine, BackfillAction.PAUSE);
            assertThat(race(engine, BackfillAction.RESUME))
                    .containsOnly(Map.entry("Applied", 1L), Map.entry("Converged", 9L));
        }
    }

    private Map<String, Long> race(Backfills engine, BackfillAction action) throws Exception {
        List<ActionOutcome> outcomes = Race.of(10)
                .run(replica -> BackfillHarness.perform(
                        engine.operations(),
                        action,
                        new OperatorRequest(
                                Host.ID,
                                "boot-" + action.wireName() + "-" + replica + "-" + System.nanoTime(),
                                Authority.host("deployment-7"),
                                null)));
        return outcomes.stream()
                .collect(Collectors.groupingBy(o -> o.getClass().getSimpleName(), Collectors.counting()));
    }

    @Test
    void a_start_at_boot_that_meets_a_locked_row_gives_up_in_one_wait_and_tries_again() throws Exception { // BB-2
        try (Backfills first = Host.start(db, SchemaMode.MIGRATE, b -> {})) {
            Host.awaitStarted(first);
        }
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("select 1 from backfill for update");
            try (Backfills engine = automatic()) {
                Eventually.until("it gives up", () -> !whyBusy(engine).isEmpty());
                // By the limit of the whole wait; that of each lock, 55P03, begins anew behind every other waiter.
                assertThat(whyBusy(engine)).contains("57014");
                holder.rollback();
                Host.awaitOpen(engine);
            }
        }
    }

    private static String whyBusy(Backfills engine) {
        try {
            engine.requireStarted();
            return "";
        } catch (BackfillUnavailableException e) {
            return e.reason() == BackfillUnavailableException.Reason.BUSY ? String.valueOf(e.getCause()) : "";
        }
    }

    @Test
    void a_required_backfill_waits_for_its_columns_and_starts_when_they_come() { // CF-8
        db.execute("alter table items rename column doubled to later");
        // Its worker hardly ever looks by itself: the start has to wake it.
        EngineOptions options = Host.quick().poll(Duration.ofMinutes(10)).build();
        try (Backfills engine = Host.start(
                db,
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value()).options(options))) {
            Host.awaitStarted(engine);
            Eventually.until(
                    "the gate says why",
                    () -> String.valueOf(engine.readiness().backfills().reason())
                            .contains("incompatible_schema"));
            assertThat(Host.state(db, Host.ID)).isEqualTo("pending");
            assertThat(engine.readiness().schema().ok()).isTrue();
            db.execute("alter table items rename column later to doubled");
            Host.awaitOpen(engine);
        }
        assertThat(db.queryTexts("select outcome from backfill_audit where action = 'start' order by audit_id"))
                .containsExactly("incompatible_schema", "applied");
    }

    @Test
    void host_migrations_that_fail_keep_the_schema_input_closed_and_are_tried_again() { // CF
        AtomicInteger runs = new AtomicInteger();
        try (Backfills engine = Host.start(
                db,
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value()).hostMigrations(() -> {
                    if (runs.incrementAndGet() == 1) {
                        throw new IllegalStateException("not yet");
                    }
                }))) {
            Host.awaitOpen(engine);
        }
        assertThat(runs).hasValue(2);
        assertThat(Host.startsAudited(db)).isEqualTo(1);
    }

    @Test
    void host_migrations_are_not_run_when_the_switch_is_off() { // CF
        try (Backfills migrated = automatic()) {
            Host.awaitOpen(migrated);
        }
        AtomicInteger runs = new AtomicInteger();
        try (Backfills engine = Host.start(db, SchemaMode.VERIFY, b -> b.hostMigrations(runs::incrementAndGet))) {
            Host.awaitStarted(engine);
        }
        assertThat(runs).hasValue(0);
    }

    @Test
    void a_completion_that_a_failover_undid_closes_the_gate_and_the_repair_is_made_again() { // CF-2, CF-9
        try (Backfills engine = automatic()) {
            Host.awaitOpen(engine);
            // The history that was restored ends before the start.
            db.execute("delete from backfill; delete from backfill_request; update items set doubled = null");
            pastTheSharedAnswer(engine);
            assertThat(engine.readiness().isOpen()).isFalse();
            assertThat(engine.readiness().backfills().reason()).contains(Host.ID.value());
            Host.awaitOpen(engine);
            assertThat(db.queryLong("select count(*) from items where doubled is distinct from n * 2"))
                    .isZero();
        }
    }

    @Test
    void readiness_answers_at_once_while_the_pool_hands_out_nothing_and_asks_once_at_a_time() throws Exception { // CF-2
        AtomicBoolean exhausted = new AtomicBoolean();
        AtomicInteger askers = new AtomicInteger();
        CountDownLatch refilled = new CountDownLatch(1);
        try (Backfills engine = Host.start(
                () -> {
                    if (exhausted.get() && Thread.currentThread().getName().startsWith("backfill-readiness")) {
                        askers.incrementAndGet();
                        try {
                            refilled.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    }
                    return db.get();
                },
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value()))) {
            Host.awaitOpen(engine);
            exhausted.set(true);
            // No probe waits for the connection: each of these would for ever.
            Eventually.until(
                    "the answer says that it is old",
                    () -> String.valueOf(engine.readiness().database().reason()).contains("s ago readiness was open"));
            assertThat(engine.readiness().database().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(engine.readiness().isOpen()).isFalse();
            assertThat(askers).hasValue(1);
            exhausted.set(false);
            refilled.countDown();
            Host.awaitOpen(engine);
        }
    }

    @Test
    void an_error_of_the_class_path_is_unknown_and_names_the_class() { // CF-2
        AtomicBoolean broken = new AtomicBoolean();
        try (Backfills engine = Host.start(
                () -> {
                    if (broken.get()) {
                        throw new UnsupportedClassVersionError("org/example/Pool (class file version 65.0)");
                    }
                    return db.get();
                },
                SchemaMode.MIGRATE,
                b -> {})) {
            Host.awaitOpen(engine);
            broken.set(true);
            Eventually.until(
                    "readiness is asked anew", () -> !engine.readiness().isOpen());
            assertThat(engine.readiness().database().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(engine.readiness().database().reason())
                    .contains("UnsupportedClassVersionError", "org/example/Pool", "65.0");
        }
    }

    /** Asks until an answer was made after now: answers are shared for a second, as objects. */
    @SuppressWarnings("ReferenceEquality") // two answers that say the same are still two
    private static void pastTheSharedAnswer(Backfills engine) {
        Readiness before = engine.readiness();
        Eventually.until("there is a new answer", () -> engine.readiness() != before);
    }
}
