package dev.backfill.example.relay.backfills;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.CompoundKey;
import dev.backfill.Keys;
import dev.backfill.RepairTransaction;
import dev.backfill.Validation;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A repair scoped to tenants: channels inherit the retention of their community, but nothing may be written into a community that
 * is being deleted. The deletion marks the row under its lock; the batch takes the same lock, and so either waits for the deletion
 * and then skips, or makes the deletion wait until the batch has committed.
 */
public final class ChannelRetention {

    /** The ID. */
    public static final String ID = "channels.retention.v1";

    // New settings, old settings, default.
    private static final String INHERITED =
            "coalesce((settings #>> '{retention,days}')::integer, (settings ->> 'retention_days')::integer, 365)";

    private static final String LOCK_LIVING =
            "SELECT id FROM communities WHERE id = ANY (?) AND NOT deleting ORDER BY id FOR SHARE";

    private static final String INHERIT = "UPDATE channels c SET retention_days = " + INHERITED + " FROM communities m"
            + " WHERE m.id = c.community_id AND c.id = ANY (?) AND m.id = ANY (?) AND c.retention_days IS NULL";

    private ChannelRetention() {}

    /** Gives each channel of a living community its retention. */
    public static BackfillDefinition<CompoundKey> definition() {
        return Backfill.define(ID)
                .describedAs("Gives channels the retention of their community, unless that is being deleted")
                .over("channels", Keys.compound(Keys.uuid("community_id"), Keys.bigint("id")))
                .batchSize(100)
                .repair(ChannelRetention::inherit)
                .validate(Validation.noRowMatches("EXISTS (SELECT 1 FROM communities m WHERE m.id = community_id"
                        + " AND NOT m.deleting) AND retention_days IS NULL"))
                .requires("communities", "deleting", "boolean")
                .requires("channels", "retention_days", "integer")
                .build();
    }

    private static long inherit(Batch<CompoundKey> batch, RepairTransaction transaction) throws SQLException {
        Connection connection = transaction.connection();
        Object[] channels =
                batch.keys().stream().map(key -> key.part(1, Long.class)).toArray();
        Object[] communities = batch.keys().stream()
                .map(key -> key.part(0, UUID.class))
                .distinct()
                .toArray();
        try (PreparedStatement update = connection.prepareStatement(INHERIT)) {
            update.setArray(1, connection.createArrayOf("bigint", channels));
            update.setArray(2, lockLiving(connection, connection.createArrayOf("uuid", communities)));
            return update.executeUpdate();
        }
    }

    private static Array lockLiving(Connection connection, Array communities) throws SQLException {
        List<Object> living = new ArrayList<>();
        try (PreparedStatement lock = connection.prepareStatement(LOCK_LIVING)) {
            lock.setArray(1, communities);
            try (ResultSet rows = lock.executeQuery()) {
                while (rows.next()) {
                    living.add(rows.getObject(1));
                }
            }
        }
        return connection.createArrayOf("uuid", living.toArray());
    }
}
