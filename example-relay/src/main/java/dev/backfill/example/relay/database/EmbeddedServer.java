package dev.backfill.example.relay.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL server whose files outlive this process, with fsync and synchronous_commit on, as anything that promises durability
 * needs. Thread-safe.
 *
 * <p>Several relays may share one directory: who holds the lock file owns the server and stops it at the end, the others only use
 * it. A JVM that was killed leaves its server running and loses the lock; the next owner adopts that server.
 */
public final class EmbeddedServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServer.class);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path files;
    private final int port;
    private final @Nullable FileChannel ownership;
    private final @Nullable EmbeddedPostgres started;

    private EmbeddedServer(Path files, int port, @Nullable FileChannel ownership, @Nullable EmbeddedPostgres started) {
        this.files = files;
        this.port = port;
        this.ownership = ownership;
        this.started = started;
    }

    /**
     * Starts the server of a directory, or finds the one that runs there already.
     *
     * @throws IOException if it neither starts nor answers
     */
    public static EmbeddedServer in(Path directory) throws IOException, InterruptedException {
        Path files = directory.resolve("postgres");
        Files.createDirectories(directory);
        FileChannel channel =
                FileChannel.open(directory.resolve("owner.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            FileLock lock = lock(channel);
            Optional<PostmasterFile> running = running(files);
            if (running.isPresent()) {
                LOG.info("Using the PostgreSQL server that runs in {} already", files);
                return used(files, running.get().port(), channel, lock);
            }
            if (lock != null && serverIsGone(files)) {
                return own(files, directory.resolve("server.log"), channel);
            }
            if (lock != null) {
                lock.release();
            }
            // Another relay starts the server just now, or an orphan is on its way down.
            new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
        }
        channel.close();
        throw new IOException("The PostgreSQL server in " + files + " does not answer; see server.log beside it.");
    }

    private static @Nullable FileLock lock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // another server object of this very process holds it
        }
    }

    private static EmbeddedServer used(Path files, int port, FileChannel channel, @Nullable FileLock lock)
            throws IOException {
        if (lock == null) {
            channel.close();
            return new EmbeddedServer(files, port, null, null);
        }
        return new EmbeddedServer(files, port, channel, null);
    }

    private static EmbeddedServer own(Path files, Path log, FileChannel channel) throws IOException {
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setDataDirectory(files)
                    .setCleanDataDirectory(false)
                    .setRegisterShutdownHook(false) // its order matters: claims are released first
                    .setPGStartupWait(PATIENCE)
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setLocaleConfig("locale", "C")
                    .setOutputRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            return new EmbeddedServer(files, server.getPort(), channel, server);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw new IOException("The embedded PostgreSQL server did not start; see " + log + ".", e);
        }
    }

    /** The server that answers on the port of the file and says itself that these files are its own. */
    private static Optional<PostmasterFile> running(Path files) throws IOException {
        Optional<PostmasterFile> file = PostmasterFile.of(files);
        if (file.isEmpty() || !file.get().ready() || file.get().process().isEmpty()) {
            return Optional.empty();
        }
        try (Connection connection =
                        DriverManager.getConnection(url(file.get().port()) + "&connectTimeout=2&socketTimeout=5");
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("SHOW data_directory")) {
            answer.next();
            return file.filter(ignored -> sameFile(Path.of(stringOf(answer)), files));
        } catch (SQLException e) {
            return Optional.empty();
        }
    }

    private static String stringOf(ResultSet answer) {
        try {
            return answer.getString(1);
        } catch (SQLException e) {
            return "";
        }
    }

    private static boolean sameFile(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean serverIsGone(Path files) throws IOException {
        // A process ID is reused by the next best program: only a postgres counts.
        return PostmasterFile.of(files)
                .flatMap(PostmasterFile::process)
                .flatMap(process -> process.info().command())
                .filter(command -> command.contains("postgres"))
                .isEmpty();
    }

    /** The JDBC URL of the database; it holds no secret. */
    public String url() {
        return url(port);
    }

    private static String url(int port) {
        return "jdbc:postgresql://localhost:" + port + "/postgres?user=postgres";
    }

    /** Stops the server if this process owns it; its files stay. */
    @Override
    public void close() throws IOException {
        if (ownership == null || !ownership.isOpen()) {
            return;
        }
        try {
            if (started != null) {
                started.close();
            } else {
                stopAdopted();
            }
        } finally {
            ownership.close();
        }
    }

    private void stopAdopted() throws IOException {
        Optional<ProcessHandle> postmaster = running(files).flatMap(PostmasterFile::process);
        if (postmaster.isEmpty()) {
            return;
        }
        // SIGINT is the fast shutdown; SIGTERM would wait for every client to leave.
        ProcessHandle process = postmaster.get();
        Process kill = new ProcessBuilder("sh", "-c", "kill -INT " + process.pid()).start();
        try {
            kill.waitFor(1, TimeUnit.SECONDS);
            process.onExit().get(4, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
            LOG.warn("The PostgreSQL server in {} is slow to stop", files);
        }
    }
}
