package dev.backfill.example.relay.demo;

import dev.backfill.example.relay.backfills.EventCounts;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Kills the owner of the counting repair where it hurts most: after it has written into counters, before it has committed.
 *
 * <p>That moment lasts a millisecond, so it is stretched: a counter in the middle of the batch is locked for a moment, as live
 * traffic would, and the batch has to wait for it with half of its work done. Whoever waits there is killed.
 */
final class MidBatchKill {

    private static final Duration GLANCE = Duration.ofMillis(1);
    private static final int GLANCES = 200; // a batch gives up on a lock after 250 ms

    // A tenth of the way: something is done that must not be done again.
    private static final String IS_UNDER_WAY = "SELECT state = 'running' AND claim_token IS NOT NULL"
            + " AND rows_scanned >= (SELECT count(*) / 10 FROM events) FROM backfill WHERE id = ?";

    // Batches lock counters in the order of their key: when they come to this one they have written several.
    private static final String LOCK = """
            BEGIN;
            SELECT FROM channel_counters WHERE channel_id > 5 AND history_events > 0 ORDER BY channel_id LIMIT 1 FOR UPDATE
            """;

    private static final String WHO_WAITS =
            "SELECT backend_xid FROM pg_stat_activity WHERE ? = ANY (pg_blocking_pids(pid)) AND backend_xid IS NOT NULL";

    private static final String OWNER =
            "SELECT claim_owner FROM backfill WHERE id = ? AND state = 'running' AND claim_expires_at > clock_timestamp()";

    private final String jdbcUrl;
    private final Queries queries;

    MidBatchKill(String jdbcUrl, Queries queries) {
        this.jdbcUrl = jdbcUrl;
        this.queries = queries;
    }

    /**
     * What was done.
     *
     * @param victim the process
     * @param generation the fencing generation of its claim
     * @param transaction the transaction that was open
     * @param at when, by PostgreSQL's clock
     */
    record Killed(RelayProcess victim, long generation, String transaction, String at) {}

    /** One try; empty when nobody came by. */
    Optional<Killed> attempt(List<RelayProcess> relays) throws SQLException, InterruptedException {
        if (!queries.isTrue(IS_UNDER_WAY, EventCounts.ID)) {
            return Optional.empty();
        }
        try (Queries traffic = new Queries(jdbcUrl)) {
            int session = (int) traffic.number("SELECT pg_backend_pid()");
            traffic.execute(LOCK);
            for (int glance = 0; glance < GLANCES; glance++) {
                Optional<String> waiting = queries.text(WHO_WAITS, session);
                if (waiting.isPresent()) {
                    return kill(waiting.get(), relays);
                }
                Patience.pause(GLANCE);
            }
            return Optional.empty();
        }
    }

    private Optional<Killed> kill(String transaction, List<RelayProcess> relays)
            throws SQLException, InterruptedException {
        Optional<String> owner = queries.text(OWNER, EventCounts.ID);
        Optional<RelayProcess> victim = relays.stream()
                .filter(relay -> owner.filter(relay::isOwner).isPresent())
                .findFirst();
        if (victim.isEmpty()) {
            return Optional.empty();
        }
        victim.get().kill();
        String at = queries.text("SELECT clock_timestamp()").orElseThrow();
        long generation = queries.number("SELECT generation FROM backfill WHERE id = ?", EventCounts.ID);
        return Optional.of(new Killed(victim.get(), generation, transaction, at));
    }
}
