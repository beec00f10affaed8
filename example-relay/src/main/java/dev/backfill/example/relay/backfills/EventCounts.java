package dev.backfill.example.relay.backfills;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.Keys;
import dev.backfill.RepairTransaction;
import dev.backfill.ValidationOutcome;
import dev.backfill.ValidationTransaction;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Adds each window's events to the counters of their channels. Doing that twice would count twice: this repair is correct only
 * because a window commits exactly once (AT-3).
 *
 * <p>Walks by {@code id}, which only grows, so that events written meanwhile lie beyond the bound and are counted by the write path
 * in {@code live_events}. The sum of the IDs is there for the proof: an event counted twice can't hide another one that was missed.
 */
public final class EventCounts {

    /** The ID. */
    public static final String ID = "channels.event-counts.v1";

    // Counters are locked in the order of their key, as the write path does.
    private static final String ADD = """
            INSERT INTO channel_counters AS c (channel_id, history_events, history_id_sum)
            SELECT channel_id, count(*), sum(id) FROM events WHERE id = ANY (?) GROUP BY channel_id ORDER BY channel_id
            ON CONFLICT (channel_id) DO UPDATE SET history_events = c.history_events + excluded.history_events,
                history_id_sum = c.history_id_sum + excluded.history_id_sum
            """;

    private EventCounts() {}

    // region definition
    /** Counts the history of each channel. */
    public static BackfillDefinition<Long> definition() {
        return Backfill.define(ID)
                .describedAs("Counts the events of each channel's history")
                .over("events", Keys.bigint("id"))
                .repair(EventCounts::add)
                .validate(EventCounts::countersMatchTheEvents)
                .requires("channel_counters", "history_events", "bigint")
                .build();
    }

    private static long add(Batch<Long> batch, RepairTransaction transaction) throws SQLException {
        try (PreparedStatement add = transaction.connection().prepareStatement(ADD)) {
            add.setArray(
                    1,
                    transaction
                            .connection()
                            .createArrayOf("bigint", batch.keys().toArray()));
            add.executeUpdate();
            return batch.size();
        }
    }
    // endregion

    private static ValidationOutcome countersMatchTheEvents(ValidationTransaction<Long> transaction)
            throws SQLException {
        String differing = """
                SELECT 1 FROM (SELECT channel_id, count(*) AS n, sum(id) AS s FROM events e WHERE %s GROUP BY channel_id) e
                FULL JOIN (SELECT * FROM channel_counters WHERE history_events <> 0) c USING (channel_id)
                WHERE (e.n, e.s) IS DISTINCT FROM (c.history_events, c.history_id_sum)
                """.formatted(transaction.withinBound("e"));
        return Proof.nothingMatches(transaction.connection(), differing, "Counters differ from the events they count");
    }
}
