package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.WarmConnections;
import dev.backfill.testkit.WireCounter;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a batch costs on the wire, counted between driver and server. */
@PostgresTest(direct = "counts what travels between driver and server")
class RoundTripsIT {

    private static final int WARM_UP = 12;
    private static final int COUNTED = 20;

    private final TestDatabase db;

    RoundTripsIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_table() {
        db.clear();
        Samples.items(db, 1_000);
    }

    /** Of the batches, the one with the fewest: pace and health are asked once a second, by whichever batch comes next. */
    private long fewest(BackfillDefinition<?> definition, boolean fused) throws Exception {
        try (WireCounter wire = new WireCounter(db.jdbcUrl());
                WarmConnections warm = connections(wire.url());
                BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definition)
                        .connections(warm)
                        .options(o -> o.fusedCommit(fused))
                        .open()) {
            harness.start(definition.id());
            HarnessWorker worker = harness.worker("a");
            List<Long> counts = new ArrayList<>();
            for (int i = 0; i < WARM_UP + COUNTED; i++) {
                long before = wire.roundTrips();
                assertThat(worker.step()).isInstanceOf(Committed.class);
                if (i >= WARM_UP) {
                    counts.add(wire.roundTrips() - before);
                }
            }
            assertThat(counts).hasSize(COUNTED);
            return Collections.min(counts);
        }
    }

    /** Connections that stay open and are never asked whether they are alive, as a pool asks when a machine is slow. */
    private static WarmConnections connections(String url) throws SQLException {
        String plain = url + (url.contains("?") ? "&" : "?") + "sslmode=disable&gssEncMode=disable";
        return new WarmConnections(() -> DriverManager.getConnection(plain), 3);
    }

    @Test
    void a_batch_of_sql_over_the_window_takes_one_round_trip() throws Exception {
        assertThat(fewest(Samples.doubling(10), true)).isEqualTo(1);
    }

    @Test
    void a_batch_of_sql_over_the_window_takes_four_round_trips_in_the_plain_form() throws Exception {
        // Begin and repair, then lock, fence, COMMIT one after the other, for whoever wants to read along.
        assertThat(fewest(Samples.doubling(10), false)).isEqualTo(4);
    }

    @Test
    void a_batch_of_a_java_function_takes_two_round_trips() throws Exception {
        assertThat(fewest(Samples.upper(10), true)).isEqualTo(2);
    }

    @Test
    void a_batch_of_own_code_takes_two_round_trips_and_its_own() throws Exception {
        assertThat(fewest(Samples.counting(10, (batch, tx) -> 0), true)).isEqualTo(3);
    }
}
