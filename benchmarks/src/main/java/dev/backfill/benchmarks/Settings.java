package dev.backfill.benchmarks;

import java.nio.file.Path;
import java.util.List;

/**
 * What a run was asked for; docs/performance.md explains each.
 *
 * @param sections the sections, or {@code all}
 * @param rows rows of the table where a section does not need another number
 * @param runs runs of each measurement that is repeated
 * @param rivals only these ways of repair; empty for all
 * @param flatRows rows over which the cost of a batch must stay flat
 * @param flatBatches batches after which the library's own tables are weighed
 * @param memoryRows the larger of the two tables between which the heap must not grow
 * @param kills processes that are killed
 * @param seconds length of a measurement under load or at rest
 * @param engines engines that poll
 * @param backfills backfills that they have registered
 * @param jfr whether to record each section for a profile
 * @param publish whether to write into docs/
 * @param output where results go
 * @param documents the directory docs
 */
record Settings(
        List<String> sections,
        long rows,
        int runs,
        List<String> rivals,
        long flatRows,
        long flatBatches,
        long memoryRows,
        int kills,
        int seconds,
        int engines,
        int backfills,
        boolean jfr,
        boolean publish,
        Path output,
        Path documents) {

    static Settings read() {
        return new Settings(
                list("benchmark", "all"),
                Long.getLong("rows", 2_000_000),
                Integer.getInteger("runs", 3),
                list("rivals", ""),
                Long.getLong("flat.rows", 10_000_000),
                Long.getLong("flat.batches", 100_000),
                Long.getLong("memory.rows", 10_000_000),
                Integer.getInteger("kills", 20),
                Integer.getInteger("seconds", 15),
                Integer.getInteger("engines", 100),
                Integer.getInteger("backfills", 10_000),
                Boolean.getBoolean("jfr"),
                Boolean.getBoolean("publish"),
                Path.of(System.getProperty("output", "target/performance")),
                Path.of(System.getProperty("documents", "../docs")));
    }

    boolean has(String section) {
        return sections.contains("all") || sections.contains(section);
    }

    boolean hasRival(String key) {
        return rivals.isEmpty() || rivals.contains(key);
    }

    private static List<String> list(String property, String otherwise) {
        String text = System.getProperty(property, otherwise);
        return List.of((text.isBlank() ? otherwise : text).split(",")).stream()
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
    }
}
