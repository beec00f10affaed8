package dev.backfill.benchmarks.lab;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The server that everything is measured on: fsync and synchronous_commit on, as in production. Every measurement gets a database
 * that is a file copy of a prepared one, vacuumed, analyzed and checkpointed, so that all start from the same bytes.
 */
public final class Lab implements AutoCloseable {

    private static final int FILE_COPY_BY_NAME = 150_000;

    private final EmbeddedPostgres server;
    private final Path data;
    private final Database admin;
    private final Set<String> templates = new HashSet<>();

    private Lab(EmbeddedPostgres server, Path data) {
        this.server = server;
        this.data = data;
        this.admin = database("postgres");
    }

    /** Starts a new server under a directory. */
    public static Lab open(Path home) throws IOException, SQLException {
        Path data = home.resolve("server");
        Files.createDirectories(home);
        delete(data);
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setOutputRedirector(
                        ProcessBuilder.Redirect.to(home.resolve("server.log").toFile()))
                .setPGStartupWait(Duration.ofSeconds(60))
                .setLocaleConfig("locale", "C")
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("shared_buffers", "2GB")
                .setServerConfig("max_wal_size", "16GB")
                .setServerConfig("checkpoint_timeout", "1h")
                .setServerConfig("max_connections", "400")
                .setServerConfig("shared_preload_libraries", "pg_stat_statements")
                .setServerConfig("pg_stat_statements.track", "top")
                .setServerConfig("timezone", "UTC")
                .start();
        return new Lab(server, data);
    }

    /** One of its databases. Neither encryption nor its negotiation, so that the wire can be read. */
    public Database database(String name) {
        return new Database("jdbc:postgresql://127.0.0.1:" + server.getPort() + "/" + name
                + "?user=postgres&sslmode=disable&gssEncMode=disable&reWriteBatchedInserts=true");
    }

    /** A fresh copy of the table {@code items} with that many rows, in shared buffers. */
    public Database items(long rows) throws SQLException {
        return copy("items_" + rows, Items.of(rows));
    }

    /** A fresh copy of what some statements make; they run once for each name. */
    public Database copy(String template, String... statements) throws SQLException {
        if (templates.add(template)) {
            admin.execute("create database " + template);
            Database made = database(template);
            made.execute(
                    "create extension if not exists pg_stat_statements", "create extension if not exists pg_prewarm");
            made.execute(statements);
            made.execute("vacuum (analyze, freeze)");
        }
        String strategy = admin.number("select current_setting('server_version_num')::int") >= FILE_COPY_BY_NAME
                ? " strategy file_copy"
                : "";
        // A copy of the files is preceded and followed by a checkpoint.
        admin.execute(
                "drop database if exists bench with (force)",
                "create database bench template " + template + strategy,
                "checkpoint");
        Database fresh = database("bench");
        fresh.execute(
                "select pg_prewarm(c.oid::regclass) from pg_class c where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace");
        return fresh;
    }

    /** Forgets a prepared database that is not needed any more. */
    public void forget(String template) throws SQLException {
        if (templates.remove(template)) {
            admin.execute("drop database if exists " + template + " with (force)");
        }
    }

    /** CPU time of all the server's processes so far, in seconds; NaN where it can't be read. */
    public double cpuSeconds() {
        return ServerCpu.seconds(data);
    }

    /** What it is, for people. */
    public String description() throws SQLException {
        return "PostgreSQL " + admin.text("select split_part(current_setting('server_version'), ' ', 1)")
                + ", fsync on, shared_buffers 2 GB, Java " + Runtime.version().feature() + ", "
                + Runtime.getRuntime().availableProcessors() + " cores for server and clients";
    }

    @Override
    public void close() throws IOException {
        server.close();
        delete(data);
    }

    /** Gigabytes; those of a run that was killed are in the way of the next. */
    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
