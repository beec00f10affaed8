package dev.backfill.postgres.schema;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** A PostgreSQL server that a test may stop, start again and copy into a physical standby. */
public final class OwnServer implements AutoCloseable {

    private final Path data;
    private EmbeddedPostgres running;

    private OwnServer(Path data, EmbeddedPostgres running) {
        this.data = data;
        this.running = running;
    }

    /** A new server in a directory. */
    public static OwnServer in(Path directory) throws IOException {
        Path data = directory.resolve("primary");
        return new OwnServer(data, boot(data, 0));
    }

    private static EmbeddedPostgres boot(Path data, int port) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(Duration.ofSeconds(60))
                .setOutputRedirector(ProcessBuilder.Redirect.to(
                        data.resolveSibling(data.getFileName() + ".log").toFile()))
                .setLocaleConfig("locale", "C")
                .setServerConfig("fsync", "off");
        return (port == 0 ? builder : builder.setPort(port)).start();
    }

    /** The URL of its database. */
    public String url() {
        return running.getJdbcUrl("postgres", "postgres");
    }

    /** A new connection. */
    public Connection connection() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Stops it, as an administrator would; returns the port on which it can be started again. */
    public int stop() throws IOException {
        int port = running.getPort();
        running.close();
        return port;
    }

    /** Starts it again. */
    public void startAgain(int port) throws IOException {
        running = boot(data, port);
    }

    /** A physical standby, made by a hot copy and kept up to date by streaming. */
    public OwnServer standby(Path directory) throws Exception {
        Path copy = directory.resolve("standby");
        String label;
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            boolean old = connection.getMetaData().getDatabaseMajorVersion() < 15;
            statement.execute(
                    old ? "select pg_start_backup('test', true, false)" : "select pg_backup_start('test', true)");
            copy(data, copy);
            try (ResultSet stop = statement.executeQuery(
                    old
                            ? "select labelfile from pg_stop_backup(false, false)"
                            : "select labelfile from pg_backup_stop(false)")) {
                stop.next();
                label = stop.getString(1);
            }
        }
        Files.writeString(copy.resolve("backup_label"), label);
        Files.createFile(copy.resolve("standby.signal"));
        Files.writeString(
                copy.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=localhost port=" + running.getPort() + " user=postgres'\n");
        return new OwnServer(copy, boot(copy, 0));
    }

    /** Everything but what belongs to the running server; a file that vanishes meanwhile is in the WAL. */
    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) throws IOException {
                Files.createDirectory(
                        to.resolve(from.relativize(dir)),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!List.of("postmaster.pid", "postmaster.opts", "epg-lock")
                        .contains(file.getFileName().toString())) {
                    try {
                        Files.copy(file, to.resolve(from.relativize(file)));
                    } catch (NoSuchFileException e) {
                        return FileVisitResult.CONTINUE;
                    }
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) {
                return FileVisitResult.CONTINUE;
            }
        });
    }

    @Override
    public void close() throws IOException {
        running.close();
    }
}
