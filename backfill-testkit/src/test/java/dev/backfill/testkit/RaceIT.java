package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

@PostgresTest(direct = "tells connections by the numbers of their sessions")
class RaceIT {

    @Test
    void a_race_shows_an_update_that_is_lost_without_a_lock(TestDatabase database) throws Exception {
        database.execute("create table counter (n int); insert into counter values (0)");
        Set<Long> totals = new HashSet<>();
        Race.of(4).rounds(40, database, RaceIT::readThenWrite, new Race.Round<Integer>() {
            @Override
            public void before(int round) {
                database.execute("update counter set n = 0");
            }

            @Override
            public void after(int round, List<Integer> results) {
                assertThat(results).hasSize(4);
                totals.add(database.queryLong("select n from counter"));
            }
        });
        assertThat(totals).as("increments that survived in some round").anyMatch(total -> total < 4);
    }

    private static int readThenWrite(Connection connection, int number) throws Exception {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("select n from counter")) {
            row.next();
            int read = row.getInt(1);
            statement.execute("update counter set n = " + (read + 1));
            return read;
        }
    }

    @Test
    void every_contender_keeps_its_connection_for_all_rounds(TestDatabase database) throws Exception {
        Set<String> backends = ConcurrentHashMap.newKeySet();
        Race.of(3)
                .rounds(
                        10,
                        database,
                        (connection, number) -> {
                            try (Statement statement = connection.createStatement();
                                    var row = statement.executeQuery("select pg_backend_pid()")) {
                                row.next();
                                return backends.add(number + ":" + row.getInt(1));
                            }
                        },
                        Race.after((round, results) -> assertThat(results).hasSize(3)));
        assertThat(backends).hasSize(3);
    }

    @Test
    void what_a_contender_throws_ends_the_race() {
        assertThatThrownBy(() -> Race.of(2).run(number -> {
                    throw new IllegalStateException("fell over");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("fell over");
        assertThatThrownBy(() -> Race.of(1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void warm_connections_are_reused_and_broken_ones_replaced(TestDatabase database) throws Exception {
        AtomicInteger opened = new AtomicInteger();
        try (WarmConnections warm = new WarmConnections(
                () -> {
                    opened.incrementAndGet();
                    return database.get();
                },
                2)) {
            for (int i = 0; i < 5; i++) {
                try (Connection connection = warm.get()) {
                    assertThat(connection.isValid(5)).isTrue();
                }
            }
            assertThat(opened).hasValue(2);
            try (Connection connection = warm.get()) {
                connection.abort(Runnable::run);
            }
            try (Connection one = warm.get();
                    Connection other = warm.get()) {
                assertThat(one.isValid(5) && other.isValid(5)).isTrue();
            }
            assertThat(opened).hasValue(3);
        }
    }
}
