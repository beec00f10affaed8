package dev.backfill.postgres.failover;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** One server of a cluster, driven by PostgreSQL's own programs as an ordinary user. */
final class Node {

    private static final String HOST = "127.0.0.1";

    private final Path bin;
    private final Path data;
    private final int port;

    private Node(Path bin, Path data, int port) {
        this.bin = bin;
        this.data = data;
        this.port = port;
    }

    static Node in(Path bin, Path directory, String name) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new Node(bin, directory.resolve(name), free.getLocalPort());
        }
    }

    String address() {
        return HOST + ":" + port;
    }

    void initialize() throws Exception {
        run("initdb", "-D", data.toString(), "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-N");
        Files.writeString(
                data.resolve("postgresql.conf"),
                "fsync = off\nwal_log_hints = on\nhot_standby = on\nwal_keep_size = '1GB'\nmax_connections = 60\n"
                        + "shared_buffers = '32MB'\nunix_socket_directories = ''\nlisten_addresses = '" + HOST + "'\n",
                StandardOpenOption.APPEND);
    }

    void copyOf(Node primary) throws Exception {
        run("pg_basebackup", "-D", data.toString(), "-d", primary.conninfo(), "-R", "-c", "fast", "-X", "stream");
    }

    void start() throws Exception {
        String log = data.resolveSibling(data.getFileName() + ".log").toString();
        run("pg_ctl", "-D", data.toString(), "-l", log, "-o", "-p " + port, "-w", "start");
    }

    /** As if its machine had lost its power. */
    void kill() throws Exception {
        run("pg_ctl", "-D", data.toString(), "-m", "immediate", "-w", "stop");
    }

    void stopQuietly() throws Exception {
        if (Files.exists(data.resolve("postmaster.pid"))) {
            kill();
        }
    }

    void promote() throws Exception {
        run("pg_ctl", "-D", data.toString(), "-w", "promote");
    }

    /** Makes a former primary a standby of the new one; what only it had committed is gone. */
    void rewindTo(Node primary) throws Exception {
        primary.execute("checkpoint");
        run("pg_rewind", "-D", data.toString(), "--source-server=" + primary.conninfo(), "-R");
        start();
    }

    /** A standby that hears nothing any more: what is committed from now on is lost if it is promoted. */
    void cutOff() throws SQLException {
        execute("alter system set primary_conninfo = ''");
        execute("select pg_reload_conf()");
        while (!"0".equals(ask("select count(*) from pg_stat_wal_receiver"))) {
            Thread.onSpinWait();
        }
    }

    String ask(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() && row.getString(1) != null ? row.getString(1) : "";
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(
                "jdbc:postgresql://" + address() + "/postgres?user=postgres&connectTimeout=2&loginTimeout=2");
    }

    private String conninfo() {
        return "host=" + HOST + " port=" + port + " user=postgres dbname=postgres";
    }

    private void run(String program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"));
        }
        command.add(bin.resolve(program).toString());
        command.addAll(List.of(arguments));
        Path output = data.resolveSibling(data.getFileName() + "-" + program + ".out");
        int code = new ProcessBuilder(command)
                .directory(data.getParent().toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start()
                .waitFor();
        if (code != 0) {
            throw new IllegalStateException(program + " failed with " + code + ": " + Files.readString(output));
        }
    }
}
