package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.Family;
import dev.backfill.Keys;
import dev.backfill.Pacing;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.HealthLimits;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Pace;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.text.Normalizer;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The definitions of docs/write-a-definition.md, run to their end. */
@PostgresTest
class WriteADefinitionIT {

    private final TestDatabase db;

    WriteADefinitionIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_shop() {
        db.clear();
        db.execute("""
                create table orders (id bigint primary key, customer_id bigint not null, placed_at timestamptz not null,
                  tags jsonb not null default '{}', total numeric not null, gift boolean, note text, search_note text);
                create table customers (id bigint primary key, orders_placed bigint);
                create table payments (at timestamptz not null, id uuid not null, cents bigint, amount numeric not null,
                  primary key (at, id));
                insert into customers select g from generate_series(1, 20) g;
                insert into orders select g, 1 + g % 20, now(), jsonb_build_object('gift', g % 2 = 0), g, null, 'N\u00b0 ' || g
                  from generate_series(1, 200) g;
                insert into payments select now(), md5(g::text)::uuid, null, g from generate_series(1, 50) g;""");
    }

    static BackfillDefinition<Long> gifts() {
        // region set
        return Backfill.define("orders.gift.v1")
                .describedAs("Fills gift for orders placed before it was a column")
                .over("orders", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update()
                        .set("gift", "coalesce((tags ->> 'gift')::boolean, false)")
                        .where("gift IS NULL"))
                .validate(Validation.noRowMatches("gift IS NULL"))
                .build();
        // endregion
    }

    static BackfillDefinition<Long> searchNotes() {
        // region row
        return Backfill.define("orders.search-note.v1")
                .over("orders", Keys.bigint("id"))
                .batchSize(500)
                .repair(Repair.rows()
                        .reading("note")
                        .writing("search_note", row -> {
                            String note = row.text("note");
                            return note == null ? null : Normalizer.normalize(note, Normalizer.Form.NFKC);
                        })
                        .where("note IS NOT NULL AND search_note IS NULL"))
                .validate(Validation.noRowMatches("note IS NOT NULL AND search_note IS NULL"))
                .build();
        // endregion
    }

    static BackfillDefinition<Long> counts() {
        // region custom
        return Backfill.define("customers.orders-placed.v1")
                .over("customers", Keys.bigint("id"))
                .batchSize(200)
                .repair((batch, tx) -> {
                    try (var update = tx.connection().prepareStatement("""
                            UPDATE customers AS c SET orders_placed = o.placed
                            FROM (SELECT k.id, count(x.id) AS placed FROM unnest(?) AS k(id)
                                  LEFT JOIN orders AS x ON x.customer_id = k.id GROUP BY k.id) AS o
                            WHERE c.id = o.id AND c.orders_placed IS DISTINCT FROM o.placed""")) {
                        update.setArray(
                                1,
                                tx.connection()
                                        .createArrayOf("bigint", batch.keys().toArray()));
                        return update.executeUpdate();
                    }
                })
                .validate(Validation.noRowMatches("orders_placed IS NULL"))
                // region proof
                .validate(tx -> {
                    try (var query = tx.connection().prepareStatement("""
                                    SELECT count(*) FROM customers AS c WHERE %s AND c.orders_placed
                                      <> (SELECT count(*) FROM orders AS o WHERE o.customer_id = c.id)""".formatted(tx.withinBound("c")));
                            var row = query.executeQuery()) {
                        row.next();
                        long wrong = row.getLong(1);
                        return wrong == 0
                                ? ValidationOutcome.holds()
                                : ValidationOutcome.rejected(wrong + " customers have a wrong count");
                    }
                })
                // endregion
                .requires("orders", "customer_id", "bigint")
                .build();
        // endregion
    }

    static BackfillDefinition<CompoundKey> cents() {
        // region compound
        return Backfill.define("payments.cents.v1")
                .over("payments", Keys.compound(Keys.timestamptz("at"), Keys.uuid("id")))
                .repair(Repair.update().set("cents", "(amount * 100)::bigint").where("cents IS NULL"))
                .validate(Validation.noRowMatches("cents IS DISTINCT FROM (amount * 100)::bigint"))
                .pacing(Pacing.unlimited()
                        .pauseRatio(1.0)
                        .rowsPerSecond(5_000)
                        .walBytesPerSecond(4_000_000)
                        .targetBatchTime(Duration.ofMillis(200)))
                .build();
        // endregion
    }

    static Family<Long> family() {
        // region family
        Family<Long> gifts = Backfill.define("orders.gift.v2")
                .over("orders", Keys.bigint("id"))
                .repair(Repair.update()
                        .set("gift", "coalesce((tags ->> 'gift')::boolean, false)")
                        .where("gift IS NULL"))
                .validate(Validation.noRowMatches("gift IS NULL"))
                .build()
                .inRanges(8);
        // endregion
        return gifts;
    }

    static EngineOptions options(java.util.function.DoubleSupplier p99) {
        // region health
        return EngineOptions.builder()
                .health(HealthLimits.builder()
                        .replicaLag(Duration.ofSeconds(10))
                        .autovacuums(0L)
                        .probe(() -> new HealthSignal(
                                "request_p99", p99.getAsDouble(), 250.0, "ms", "the host's request timer"))
                        .build())
                .build();
        // endregion
    }

    @Test
    void every_definition_of_the_guide_completes() {
        for (BackfillDefinition<?> definition : java.util.List.of(gifts(), searchNotes(), counts())) {
            try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
                assertThat(harness.operations()
                                .preflight(BackfillHarness.OPERATOR, definition.id())
                                .errors())
                        .isEmpty();
                harness.runToCompletion(definition.id());
                assertThat(harness.state(definition.id())).isEqualTo(BackfillState.COMPLETED);
            }
        }
        assertThat(db.queryLong("select sum(orders_placed) from customers")).isEqualTo(200);
        assertThat(db.queryLong("select count(*) from orders where gift and search_note like 'N%'"))
                .isEqualTo(100);
    }

    @Test
    void the_family_of_the_guide_completes_in_eight_parts() {
        try (BackfillHarness harness =
                BackfillHarness.over(db).definitions(family()).open()) {
            family().forEach(part -> {
                assertThat(harness.start(part.id())).isInstanceOf(ActionOutcome.Applied.class);
                harness.runToCompletion(part.id());
            });
        }
        assertThat(db.queryLong("select count(*) from orders where gift")).isEqualTo(100);
        assertThat(db.queryLong("select count(*) from backfill where state = 'completed' and range_parts = 8"))
                .isEqualTo(8);
    }

    @Test
    void a_paced_definition_can_be_hurried_by_an_operator() {
        BackfillDefinition<CompoundKey> definition = cents();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            var operations = harness.operations();
            // region pace
            Pace.Outcome outcome = operations.pace(
                    new OperatorRequest(definition.id(), "night-shift-1", BackfillHarness.OPERATOR, "traffic is low"),
                    Pacing.unlimited());
            // endregion
            assertThat(outcome).isInstanceOf(Pace.Outcome.InForce.class);
            harness.runToCompletion(definition.id());
            assertThat(db.queryLong("select count(*) from payments where cents = amount * 100"))
                    .isEqualTo(50);
        }
        assertThat(options(() -> 1.0).health().probes()).hasSize(1);
    }
}
