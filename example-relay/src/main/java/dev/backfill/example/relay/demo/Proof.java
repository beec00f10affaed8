package dev.backfill.example.relay.demo;

import dev.backfill.example.relay.backfills.ChannelRetention;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.backfills.MentionRows;
import dev.backfill.example.relay.backfills.SearchText;
import dev.backfill.example.relay.backfills.ThreadRoots;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Counts for itself, by queries that share nothing with the repairs, what was repaired, repaired twice, and missed. */
final class Proof {

    // For each: rows that needed the repair, and rows that still do or got a wrong value.
    private static final List<Claimed> CLAIMED = List.of(
            new Claimed(
                    ThreadRoots.ID,
                    "SELECT count(*) FROM events WHERE jsonb_exists(tags, 'e')",
                    "SELECT count(*) FROM events WHERE jsonb_exists(tags, 'e')"
                            + " AND thread_root IS DISTINCT FROM (tags -> 'e' ->> 0)::bigint"),
            new Claimed(
                    SearchText.ID,
                    "SELECT count(content) FROM events",
                    "SELECT count(content) FROM events WHERE search_text IS DISTINCT FROM normalize(content, NFKC)"),
            new Claimed(
                    MentionRows.ID,
                    "SELECT sum(n) FROM (%s) e".formatted(mentionsPerEvent()),
                    "SELECT coalesce(sum(abs(coalesce(e.n, 0) - coalesce(m.n, 0))), 0) FROM (%s) e"
                                    .formatted(mentionsPerEvent())
                            + " FULL JOIN (SELECT event_id AS id, count(*) AS n FROM mentions GROUP BY event_id) m USING (id)"),
            new Claimed(
                    ChannelRetention.ID,
                    "SELECT count(*) FROM channels JOIN communities m ON m.id = community_id WHERE NOT deleting",
                    "SELECT count(*) FROM channels JOIN communities m ON m.id = community_id"
                            + " WHERE deleting <> (retention_days IS NULL)"));

    private static final String REPAIRED = "SELECT count(DISTINCT key) FROM demo.repaired WHERE backfill = ?";
    private static final String TWICE = "SELECT count(*) - count(DISTINCT key) FROM demo.repaired WHERE backfill = ?";

    // Two windows that overlapped count an event twice: too many, or a wrong sum of identifiers where another one is
    // missing.
    private static final String COUNTERS = """
            FROM (SELECT channel_id, count(*) AS n, sum(id) AS s FROM events GROUP BY channel_id) e
            FULL JOIN channel_counters c USING (channel_id)
            """;

    private final Queries queries;
    private final List<String> lines = new ArrayList<>();
    private boolean holds = true;

    Proof(Queries queries) {
        this.queries = queries;
    }

    private record Claimed(String id, String needed, String missed) {}

    private static String mentionsPerEvent() {
        return "SELECT id, coalesce(jsonb_array_length(tags -> 'p'), cardinality(string_to_array(tags ->> 'mentions', ','))) AS n"
                + " FROM events WHERE jsonb_exists_any(tags, ARRAY['p', 'mentions'])";
    }

    /** Counts everything; may be asked once. */
    void count() throws SQLException {
        lines.add(String.format(
                "  %-26s %-10s %4s %12s %12s %8s %8s",
                "backfill", "state", "gen", "to repair", "repaired", "twice", "missed"));
        countCounters();
        for (Claimed claimed : CLAIMED) {
            long needed = queries.number(claimed.needed());
            long repaired = queries.number(REPAIRED, claimed.id());
            row(claimed.id(), needed, repaired, queries.number(TWICE, claimed.id()), queries.number(claimed.missed()));
        }
    }

    private void countCounters() throws SQLException {
        long needed = queries.number("SELECT count(*) FROM events");
        long counted = queries.number("SELECT coalesce(sum(history_events), 0) FROM channel_counters");
        long twice = queries.number(
                "SELECT coalesce(sum(greatest(coalesce(history_events, 0) - coalesce(n, 0), 0)), 0) " + COUNTERS);
        long missed = queries.number(
                "SELECT coalesce(sum(greatest(coalesce(n, 0) - coalesce(history_events, 0), 0)), 0) " + COUNTERS);
        row(EventCounts.ID, needed, counted, twice, missed);
        long wrongSums = queries.number("SELECT count(*) " + COUNTERS + " WHERE history_id_sum IS DISTINCT FROM s");
        claim(wrongSums == 0, "  of these, channels whose counted identifiers don't add up: %d", wrongSums);
    }

    private void row(String id, long needed, long repaired, long twice, long missed) throws SQLException {
        String state =
                queries.text("SELECT state FROM backfill WHERE id = ?", id).orElse("absent");
        long generation = queries.number("SELECT generation FROM backfill WHERE id = ?", id);
        boolean good = state.equals("completed") && repaired == needed && twice == 0 && missed == 0;
        claim(good, "  %-26s %-10s %4d %,12d %,12d %,8d %,8d", id, state, generation, needed, repaired, twice, missed);
    }

    /** One more line of the proof. */
    void claim(boolean good, String format, Object... arguments) {
        holds &= good;
        lines.add(String.format(Locale.ROOT, format, arguments) + (good ? "" : "   <-- NOT AS PROMISED"));
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** Whether every line is as promised. */
    boolean holds() {
        return holds;
    }
}
