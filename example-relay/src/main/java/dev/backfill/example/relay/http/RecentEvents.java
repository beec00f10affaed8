package dev.backfill.example.relay.http;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Events of the relay, newest first, page by page. 64-bit numbers are text in JSON, or a browser would round them. */
final class RecentEvents {

    private static final String PAGE = """
            SELECT id, uid, community_id, channel_id, kind, content, created_at, deleted_at, thread_root
            FROM events WHERE id < ? ORDER BY id DESC LIMIT ?
            """;

    private final DataSource database;

    RecentEvents(DataSource database) {
        this.database = database;
    }

    Map<String, @Nullable Object> page(long before, int limit) throws SQLException {
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        try (Connection connection = database.getConnection();
                PreparedStatement page = connection.prepareStatement(PAGE)) {
            page.setLong(1, before);
            page.setInt(2, limit);
            try (ResultSet rows = page.executeQuery()) {
                while (rows.next()) {
                    items.add(event(rows));
                }
            }
        }
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("items", items);
        answer.put(
                "next_before",
                items.size() < limit ? null : items.get(items.size() - 1).get("id"));
        return answer;
    }

    private static Map<String, @Nullable Object> event(ResultSet row) throws SQLException {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        for (String column : List.of("id", "uid", "community_id", "channel_id")) {
            event.put(column, row.getString(column));
        }
        event.put("kind", row.getInt("kind"));
        event.put("content", row.getString("content"));
        for (String moment : List.of("created_at", "deleted_at")) {
            OffsetDateTime at = row.getObject(moment, OffsetDateTime.class);
            event.put(moment, at == null ? null : at.toString());
        }
        event.put("thread_root", row.getString("thread_root"));
        return event;
    }
}
