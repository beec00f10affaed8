package dev.backfill.testkit.server;

/**
 * One running PostgreSQL, shared by every test class of this JVM. Thread-safe.
 *
 * @since 0.1
 */
public interface PostgresServer {

    /** The JDBC URL of one of its databases, with whatever user and password it needs. */
    String urlOf(String database);

    /** The name of the database from which others are created and dropped. */
    String adminDatabase();

    /** The server itself, if this is a pooler before one. */
    default PostgresServer direct() {
        return this;
    }

    /** Where it came from, for people. */
    String origin();
}
