package dev.backfill.example.relay.demo;

import dev.backfill.example.relay.backfills.EventCounts;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Kills the owner of the counting repair where it hurts most: after it has written into the counters, before it has committed.
 *
 * <p>That moment lasts a millisecond. So the owner is frozen first, and then PostgreSQL is asked whether its session stands inside
 * a transaction that holds the counters. If not, it is thawed again, none the wiser, and the next try may be luckier.
 */
final class MidBatchKill {

    private static final Duration GLANCE = Duration.ofMillis(2);

    // The session's state, if it has written into the counters and neither committed nor rolled back.
    private static final String OPEN_BATCH = """
            SELECT a.state || ' ' || a.backend_xid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
            WHERE l.relation = 'channel_counters'::regclass AND l.mode = 'RowExclusiveLock' AND l.granted
                AND a.backend_xid IS NOT NULL AND a.application_name = ?
            """;

    private static final String OWNER =
            "SELECT claim_owner FROM backfill WHERE id = ? AND state = 'running' AND checkpoint IS NOT NULL"
                    + " AND claim_expires_at > clock_timestamp() + interval '1 second'";

    private final Queries queries;

    MidBatchKill(Queries queries) {
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

    /** One try; empty when the owner was not in the middle of a batch. */
    Optional<Killed> attempt(List<RelayProcess> relays) throws SQLException, IOException, InterruptedException {
        Optional<RelayProcess> owner = owner(relays);
        if (owner.isEmpty()) {
            return Optional.empty();
        }
        RelayProcess victim = owner.get();
        victim.freeze();
        Optional<String> transaction = openTransaction(victim);
        if (transaction.isEmpty() || !owner(relays).equals(owner)) {
            victim.thaw();
            return Optional.empty();
        }
        long generation = queries.number("SELECT generation FROM backfill WHERE id = ?", EventCounts.ID);
        victim.kill();
        String at = queries.text("SELECT clock_timestamp()").orElseThrow();
        return Optional.of(new Killed(victim, generation, transaction.get(), at));
    }

    private Optional<RelayProcess> owner(List<RelayProcess> relays) throws SQLException {
        Optional<String> owner = queries.text(OWNER, EventCounts.ID);
        return relays.stream()
                .filter(relay -> owner.filter(name -> belongsTo(name, relay)).isPresent())
                .findFirst();
    }

    private static boolean belongsTo(String owner, RelayProcess relay) {
        return owner.matches(".*\\b" + relay.processName() + "\\b.*");
    }

    /** The open transaction of a frozen process. A statement that was under way ends by itself: the server is not frozen. */
    private Optional<String> openTransaction(RelayProcess frozen) throws SQLException, InterruptedException {
        for (int glance = 0; glance < 100; glance++) {
            Optional<String> session = queries.text(OPEN_BATCH, frozen.processName());
            if (session.isEmpty()) {
                return Optional.empty();
            }
            if (session.get().startsWith("idle in transaction ")) {
                return session.map(text -> text.substring(text.lastIndexOf(' ') + 1));
            }
            Patience.pause(GLANCE);
        }
        return Optional.empty();
    }
}
