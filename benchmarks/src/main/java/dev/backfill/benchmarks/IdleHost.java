package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Library;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import java.util.ArrayList;
import java.util.List;

/** A JVM with engines that have nothing to do: URL, engines, backfills. */
final class IdleHost {

    private IdleHost() {}

    static List<BackfillDefinition<?>> definitions(int count) {
        List<BackfillDefinition<?>> definitions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            definitions.add(Library.definition("idle." + i + ".v1", "items", Library.Style.SET, 1_000));
        }
        return definitions;
    }

    public static void main(String[] arguments) throws Exception {
        List<BackfillDefinition<?>> definitions = definitions(Integer.parseInt(arguments[2]));
        List<Backfills> engines = new ArrayList<>();
        List<HikariDataSource> pools = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            HikariDataSource pool = Database.pool(arguments[0], 2);
            pools.add(pool);
            engines.add(Engines.open(pool, EngineOptions.defaults(), event -> {}, definitions));
        }
        System.out.println("up");
        Fork.awaitEnd();
        engines.forEach(Backfills::close);
        pools.forEach(HikariDataSource::close);
    }
}
