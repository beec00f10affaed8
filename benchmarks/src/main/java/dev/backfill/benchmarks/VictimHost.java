package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.host.Backfills;
import dev.backfill.spi.BackfillEvent;
import java.time.Duration;
import java.util.List;

/** A host process that starts a backfill, works on it, and is there to be killed: URL, ID, lease in milliseconds. */
final class VictimHost {

    private VictimHost() {}

    public static void main(String[] arguments) throws Exception {
        BackfillDefinition<Long> definition = SlowRepair.of(arguments[1]);
        EventTimes events = new EventTimes();
        try (HikariDataSource pool = Database.pool(arguments[0], 3);
                Backfills backfills = Engines.open(
                        pool,
                        Latency.options(Duration.ofMillis(Long.parseLong(arguments[2]))),
                        events,
                        List.of(definition))) {
            Engines.start(backfills, definition.id());
            events.first(BackfillEvent.Kind.BATCH_COMMITTED, definition.id(), 0);
            System.out.println("working");
            Fork.awaitEnd();
        }
    }
}
