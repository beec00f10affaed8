package dev.backfill.testkit.server;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PgBouncer of this JVM in transaction mode, before a server, on a free port of the loopback address. It ends with the JVM; one that
 * a killed JVM left behind is ended by the next that takes its place.
 */
final class PgBouncer implements PostgresServer {

    private static final Logger LOG = LoggerFactory.getLogger(PgBouncer.class);
    private static final Pattern URL = Pattern.compile("jdbc:postgresql://([^:/?]+)(?::(\\d+))?/[^?]*(\\?.*)?");
    private static final Pattern VERSION = Pattern.compile("PgBouncer (\\d+)\\.(\\d+)");
    private static final int STARTS = 5;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final PostgresServer server;
    private final int port;
    private final String parameters;

    private PgBouncer(PostgresServer server, int port, String parameters) {
        this.server = server;
        this.port = port;
        this.parameters = parameters;
    }

    /**
     * Starts one before a server.
     *
     * @param name of the server, of which one JVM may have several
     */
    static PostgresServer before(PostgresServer server, String name) {
        return before(server, name, System.getenv("PATH") + File.pathSeparator + "/usr/sbin");
    }

    static PostgresServer before(PostgresServer server, String name, String path) {
        Path program = program(path)
                .orElseThrow(
                        () -> new IllegalStateException(
                                "backfill.test.pooler asks for PgBouncer, and there is no pgbouncer on the PATH or in"
                                        + " /usr/sbin. Install it (Debian: apt-get install pgbouncer), or leave the setting away."));
        try {
            return start(program, server, ServerSlot.take(parent(name)));
        } catch (IOException e) {
            throw new UncheckedIOException("PgBouncer (" + program + ") could not be started for tests.", e);
        }
    }

    private static Optional<Path> program(String path) {
        return Stream.of(path.split(File.pathSeparator))
                .map(directory -> Path.of(directory, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static Path parent(String name) {
        return Path.of(
                System.getProperty("java.io.tmpdir"),
                "backfill-testkit-" + System.getProperty("user.name"),
                "pgbouncer-" + name);
    }

    private static PgBouncer start(Path program, PostgresServer server, ServerSlot slot) throws IOException {
        endLeftover(slot.home());
        boolean prepares = keepsPreparedStatements(program);
        for (int i = 0; i < STARTS; i++) {
            int port = freePort();
            Process process = launch(program, slot.home(), configuration(server, port, prepares));
            if (listens(process, port)) {
                // It holds the slot, too: once collected, it would be free for a JVM that takes this one for a
                // leftover.
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(() -> stop(process, slot), "backfill-testkit-pgbouncer-stop"));
                LOG.info("Tests go through PgBouncer in transaction mode on port {}.", port);
                // Below 1.21 a statement that one session prepared is unknown to the next that a client gets.
                return new PgBouncer(server, port, "?user=backfill" + (prepares ? "" : "&prepareThreshold=0"));
            }
            process.destroyForcibly();
        }
        throw new IOException("It ended or did not listen. What it said:\n" + Files.readString(log(slot.home())));
    }

    private static void stop(Process process, ServerSlot slot) {
        process.destroyForcibly();
        try {
            slot.leave();
        } catch (IOException e) {
            LOG.debug("The slot of a PgBouncer could not be left; it is free once this JVM has ended.", e);
        }
    }

    private static Process launch(Path program, Path home, String configuration) throws IOException {
        Path file = Files.writeString(home.resolve("pgbouncer.ini"), configuration);
        List<String> command = new ArrayList<>(List.of(program.toString(), "-q"));
        if (System.getProperty("user.name").equals("root")) {
            // It refuses to be root.
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(file.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log(home).toFile())
                .start();
        Files.writeString(pidFile(home), Long.toString(process.pid()));
        return process;
    }

    private static String configuration(PostgresServer server, int port, boolean prepares) {
        Matcher url = URL.matcher(server.urlOf(server.adminDatabase()));
        if (!url.matches()) {
            throw new IllegalStateException("PgBouncer needs a server with a URL such as"
                    + " jdbc:postgresql://host:port/database?user=name; this one (" + server.origin()
                    + ") has another.");
        }
        String tail = url.group(3) == null ? "" : url.group(3);
        return "[databases]\n* = host=" + url.group(1) + " port=" + (url.group(2) == null ? "5432" : url.group(2))
                + parameter(tail, "user") + parameter(tail, "password")
                + "\n[pgbouncer]\npool_mode = transaction\nauth_type = any\nlisten_addr = 127.0.0.1\nlisten_port = "
                + port
                + "\nunix_socket_dir =\nmax_client_conn = 1000\ndefault_pool_size = 80\nserver_idle_timeout = 10"
                + "\nignore_startup_parameters = extra_float_digits\n"
                + (prepares ? "max_prepared_statements = 200\n" : "");
    }

    private static String parameter(String tail, String name) {
        Matcher found = Pattern.compile("[?&]" + name + "=([^&]*)").matcher(tail);
        return found.find() ? " " + name + "='" + found.group(1).replace("'", "''") + "'" : "";
    }

    private static boolean keepsPreparedStatements(Path program) throws IOException {
        Process process = new ProcessBuilder(program.toString(), "--version").start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        Matcher version = VERSION.matcher(said);
        return version.find()
                && Integer.parseInt(version.group(1)) * 1_000 + Integer.parseInt(version.group(2)) >= 1_021;
    }

    private static boolean listens(Process process, int port) {
        long until = System.nanoTime() + PATIENCE_NANOS;
        while (process.isAlive() && System.nanoTime() - until < 0) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                return process.isAlive();
            } catch (IOException e) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
        return false;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** What a killed JVM left: the process whose number is written here, if it is a PgBouncer still. */
    private static void endLeftover(Path home) throws IOException {
        Path file = pidFile(home);
        if (Files.exists(file)) {
            ProcessHandle.of(Long.parseLong(Files.readString(file).strip()))
                    .filter(process -> process.info()
                            .command()
                            .map(command -> command.endsWith("pgbouncer"))
                            .orElse(false))
                    .ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    static Path pidFile(Path home) {
        return home.resolve("pgbouncer.pid");
    }

    private static Path log(Path home) {
        return home.resolve("pgbouncer.log");
    }

    @Override
    public String urlOf(String database) {
        return "jdbc:postgresql://localhost:" + port + "/" + database + parameters;
    }

    @Override
    public String adminDatabase() {
        return server.adminDatabase();
    }

    @Override
    public PostgresServer direct() {
        return server;
    }

    @Override
    public String origin() {
        return "PgBouncer on port " + port + " before " + server.origin();
    }
}
