package dev.backfill.benchmarks;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Rival;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * A JVM whose heap is watched. {@code repair URL STYLE}: a whole repair, says the most that was live after a collection.
 * {@code register URL COUNT}: an engine with so many definitions, says what they added.
 */
final class HeapHost {

    private HeapHost() {}

    public static void main(String[] arguments) throws Exception {
        long bytes = arguments[0].equals("repair")
                ? repair(new Database(arguments[1]), arguments[2])
                : register(new Database(arguments[1]), Integer.parseInt(arguments[2]));
        System.out.println("bytes " + bytes);
    }

    private static long repair(Database database, String style) throws Exception {
        AtomicLong most = new AtomicLong();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector)
                    .addNotificationListener(
                            (notification, handback) -> {
                                GarbageCollectionNotificationInfo info = GarbageCollectionNotificationInfo.from(
                                        (CompositeData) notification.getUserData());
                                long live = info.getGcInfo().getMemoryUsageAfterGc().entrySet().stream()
                                        .filter(pool -> isHeap(pool.getKey()))
                                        .map(java.util.Map.Entry::getValue)
                                        .mapToLong(MemoryUsage::getUsed)
                                        .sum();
                                most.accumulateAndGet(live, Math::max);
                            },
                            null,
                            null);
        }
        try (Rival.Ready ready = Rival.of(style).prepare(database, 1_000)) {
            ready.run();
        }
        most.accumulateAndGet(live(), Math::max);
        return most.get();
    }

    private static boolean isHeap(String pool) {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .anyMatch(
                        bean -> bean.getName().equals(pool) && bean.getType() == java.lang.management.MemoryType.HEAP);
    }

    private static long register(Database database, int count) throws Exception {
        long one = registered(database, 1);
        return registered(database, count) - one;
    }

    private static long registered(Database database, int count) throws Exception {
        List<BackfillDefinition<?>> definitions = IdleHost.definitions(count);
        try (HikariDataSource pool = database.pool(3);
                Backfills backfills = Engines.open(pool, EngineOptions.defaults(), event -> {}, definitions)) {
            if (!backfills.readiness().isOpen()) {
                throw new IllegalStateException("The engine is not ready: " + backfills.readiness());
            }
            return live();
        }
    }

    private static long live() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
