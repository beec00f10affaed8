package dev.backfill.testkit.server;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a run asks for, read once from system properties and then from the environment: {@code postgres.major} (or
 * {@code POSTGRES_MAJOR}), {@code backfill.test.jdbc-url} ({@code BACKFILL_TEST_JDBC_URL}), {@code backfill.test.server}
 * ({@code BACKFILL_TEST_SERVER}: {@code given}, {@code container} or {@code embedded}), {@code backfill.test.keep-server}
 * ({@code BACKFILL_TEST_KEEP_SERVER}) and {@code backfill.test.pooler} ({@code BACKFILL_TEST_POOLER}: {@code pgbouncer}).
 *
 * @param major the major version wanted, or null for any
 * @param jdbcUrl a server that is there already, or null
 * @param origin the only origin allowed, or null for the first that is there
 * @param keep whether an embedded server stays up after this JVM, for the next one
 * @param pooled whether tests go through PgBouncer in transaction mode
 * @since 0.1
 */
public record ServerSettings(
        @Nullable Integer major,
        @Nullable String jdbcUrl,
        @Nullable String origin,
        boolean keep,
        boolean pooled) {

    /** Reads them. */
    public static ServerSettings read() {
        String major = value("postgres.major");
        return new ServerSettings(
                major == null ? null : parse(major),
                value("backfill.test.jdbc-url"),
                value("backfill.test.server"),
                Boolean.parseBoolean(value("backfill.test.keep-server")),
                isPgBouncer(value("backfill.test.pooler")));
    }

    /** Whether an origin may be used. */
    public boolean allows(String candidate) {
        return origin == null || origin.equals(candidate);
    }

    private static boolean isPgBouncer(@Nullable String pooler) {
        if (pooler != null && !pooler.equals("pgbouncer")) {
            throw new IllegalArgumentException(
                    "backfill.test.pooler is 'pgbouncer' or left away, got '" + pooler + "'.");
        }
        return pooler != null;
    }

    private static Integer parse(String major) {
        if (!major.matches("1[4-9]|[2-9][0-9]")) {
            throw new IllegalArgumentException("postgres.major is a major version from 14 on, got '" + major
                    + "'. For example -Dpostgres.major=17.");
        }
        return Integer.valueOf(major);
    }

    private static @Nullable String value(String name) {
        String property = System.getProperty(name);
        if (property == null || property.isBlank()) {
            property = System.getenv(
                    name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_'));
        }
        return property == null || property.isBlank() ? null : property;
    }
}
