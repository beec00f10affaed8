package dev.backfill.postgres.kind;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A plan as EXPLAIN wrote it.
 *
 * @param lines its lines
 */
record Plan(List<String> lines) {

    private static final Pattern BLOCKS = Pattern.compile("shared ([^,]*)");
    private static final Pattern NUMBER = Pattern.compile("(?:hit|read)=(\\d+)");

    /** Blocks touched by the whole statement, cached or not: what it costs, independent of the machine. */
    long blocks() {
        String top = lines.stream()
                .filter(l -> l.strip().startsWith("Buffers:"))
                .findFirst()
                .orElse("");
        Matcher shared = BLOCKS.matcher(top);
        long total = 0;
        if (shared.find()) {
            Matcher number = NUMBER.matcher(shared.group(1));
            while (number.find()) {
                total += Long.parseLong(number.group(1));
            }
        }
        return total;
    }

    /** How often the source is read through an index condition. */
    long indexConditions() {
        return lines.stream().filter(l -> l.strip().startsWith("Index Cond:")).count();
    }

    /** Whether a table is read from end to end. */
    boolean readsWholeTable() {
        return lines.stream().anyMatch(l -> l.contains("Seq Scan"));
    }

    @Override
    public String toString() {
        return String.join("\n", lines);
    }
}
