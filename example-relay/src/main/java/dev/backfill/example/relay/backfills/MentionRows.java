package dev.backfill.example.relay.backfills;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.CompoundKey;
import dev.backfill.Keys;
import dev.backfill.RepairTransaction;
import dev.backfill.ValidationOutcome;
import dev.backfill.ValidationTransaction;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Copies mentions out of the tags into rows of their own, in the order of a compound key with many ties. New events list mentions
 * in {@code p}, old ones as comma-separated text; the subquery below reads both.
 */
public final class MentionRows {

    /** The ID. */
    public static final String ID = "events.mentions.v1";

    // Every mention of an event e, as (mentioned, position).
    private static final String MENTIONS_OF_E = """
            LATERAL (
                SELECT mention.value::uuid AS mentioned, mention.ordinality::integer AS position
                FROM jsonb_array_elements_text(coalesce(e.tags -> 'p',
                    to_jsonb(string_to_array(e.tags ->> 'mentions', ',')))) WITH ORDINALITY mention
            ) m
            """;

    private static final String COPY = "INSERT INTO mentions (event_id, position, mentioned, community_id, created_at)"
            + " SELECT e.id, m.position, m.mentioned, e.community_id, e.created_at FROM events e, " + MENTIONS_OF_E
            + " WHERE e.id = ANY (?) ON CONFLICT (event_id, position) DO NOTHING";

    private MentionRows() {}

    /** Copies mentions into the table {@code mentions}. */
    public static BackfillDefinition<CompoundKey> definition() {
        return Backfill.define(ID)
                .describedAs("Copies mentions out of the tags into rows of their own")
                .over("events", Keys.compound(Keys.timestamptz("created_at"), Keys.bigint("id")))
                .repair(MentionRows::copy)
                .validate(MentionRows::everyMentionHasItsRow)
                .requires("events", "tags", "jsonb")
                .requires("mentions", "mentioned", "uuid")
                .build();
    }

    private static long copy(Batch<CompoundKey> batch, RepairTransaction transaction) throws SQLException {
        Object[] ids = batch.keys().stream().map(key -> key.part(1, Long.class)).toArray();
        try (PreparedStatement copy = transaction.connection().prepareStatement(COPY)) {
            copy.setArray(1, transaction.connection().createArrayOf("bigint", ids));
            return copy.executeUpdate();
        }
    }

    private static ValidationOutcome everyMentionHasItsRow(ValidationTransaction<CompoundKey> transaction)
            throws SQLException {
        String missing = "SELECT e.id, m.position, m.mentioned FROM events e, " + MENTIONS_OF_E + " WHERE "
                + transaction.withinBound("e") + " EXCEPT SELECT event_id, position, mentioned FROM mentions";
        return Proof.nothingMatches(transaction.connection(), missing, "Mentions of the tags lack their row");
    }
}
