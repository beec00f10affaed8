package dev.backfill.example.relay.backfills;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** The relay's tables with two dozen rows that show everything the big history has: for the conformance suite. */
final class SmallHistory {

    private static final String ROWS = """
            INSERT INTO communities (id, name, settings, deleting, created_at) VALUES
              ('00000000-0000-4000-8000-000000000001', 'new settings', '{"retention": {"days": 30}}', false, '2021-01-01Z'),
              ('00000000-0000-4000-8000-000000000002', 'being deleted', '{"retention_days": "10"}', true, '2021-01-01Z'),
              ('00000000-0000-4000-8000-000000000003', 'old settings', '{"retention_days": "90"}', false, '2021-01-01Z'),
              ('f0000000-0000-4000-8000-000000000004', 'no settings', '{}', false, '2021-01-01Z');

            INSERT INTO channels (id, community_id, name)
            SELECT n, (SELECT id FROM communities ORDER BY id OFFSET (n - 1) % 4 LIMIT 1), 'channel-' || n FROM generate_series(1, 16) n;

            INSERT INTO events (id, uid, community_id, channel_id, kind, author, content, tags, created_at, deleted_at)
            SELECT n * 3, md5('event-' || n)::uuid, '00000000-0000-4000-8000-000000000001', 1 + n % 3, 1, md5('author')::uuid,
                   CASE WHEN n % 8 <> 5 THEN (ARRAY['plain', 'ﬁne', E'cafe\\u0301', 'ｶﾅ'])[1 + n % 4] || n END,
                   CASE WHEN n % 8 = 5 THEN NULL
                        WHEN n % 8 = 6 THEN '{}'
                        WHEN n % 2 = 0 THEN jsonb_build_object('e', jsonb_build_array(n), 'p', jsonb_build_array(md5('a')::uuid, md5('b')::uuid))
                        ELSE jsonb_build_object('e', jsonb_build_array(n::text), 'mentions', md5('c')::uuid || ',' || md5('d')::uuid) END,
                   timestamptz '2022-01-01 00:00:00Z' + n / 5 * interval '1 second',
                   CASE WHEN n % 8 = 5 THEN timestamptz '2025-01-01Z' END
            FROM generate_series(1, 24) n;
            """;

    private SmallHistory() {}

    static void seed(Connection database) throws SQLException, IOException {
        try (Statement statement = database.createStatement()) {
            for (String script : new String[] {"1-tables.sql", "2-keys.sql", "3-expand.sql"}) {
                statement.execute(read("/dev/backfill/example/relay/schema/" + script));
            }
            statement.execute(ROWS);
        }
    }

    private static String read(String resource) throws IOException {
        try (InputStream file = SmallHistory.class.getResourceAsStream(resource)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
