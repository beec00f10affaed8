package dev.backfill.example.relay.demo;

import java.sql.SQLException;

/**
 * Notes every single repair of every row, in the repair's own transaction, by triggers of the demo. What the library says about
 * itself is no evidence; how often a row was touched is.
 */
final class Witness {

    private static final String INSTALL = """
            CREATE SCHEMA demo;
            CREATE UNLOGGED TABLE demo.repaired (backfill text NOT NULL, key bigint NOT NULL);
            CREATE FUNCTION demo.saw_event() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO demo.repaired VALUES (tg_argv[0], new.id); RETURN NULL; END $$;
            CREATE FUNCTION demo.saw_mention() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN INSERT INTO demo.repaired VALUES (tg_argv[0], new.event_id * 100 + new.position); RETURN NULL; END $$;
            CREATE TRIGGER demo_thread_root AFTER UPDATE OF thread_root ON events FOR EACH ROW
                EXECUTE FUNCTION demo.saw_event('events.thread-root.v1');
            CREATE TRIGGER demo_search_text AFTER UPDATE OF search_text ON events FOR EACH ROW
                EXECUTE FUNCTION demo.saw_event('events.search-text.v1');
            CREATE TRIGGER demo_retention AFTER UPDATE OF retention_days ON channels FOR EACH ROW
                EXECUTE FUNCTION demo.saw_event('channels.retention.v1');
            CREATE TRIGGER demo_mentions AFTER INSERT ON mentions FOR EACH ROW
                EXECUTE FUNCTION demo.saw_mention('events.mentions.v1');
            """;

    private Witness() {}

    /** Before anything is started. */
    static void install(Queries queries) throws SQLException {
        queries.execute(INSTALL);
    }
}
