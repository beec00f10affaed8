package dev.backfill.benchmarks.lab;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Reads the instruments before and after some work. Not for two pieces of work at once: the server's are of the whole server. */
public final class Meter {

    private static final double NANOS = 1e9;
    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final Lab lab;
    private final Database database;

    /** A meter on one database of the server. */
    public Meter(Lab lab, Database database) {
        this.lab = lab;
        this.database = database;
    }

    /** Work to be measured. */
    @FunctionalInterface
    public interface Work {
        /** Does it. */
        void run() throws Exception;
    }

    /** What some work cost. */
    public Cost of(Work work) throws Exception {
        double wal;
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_stat_statements_reset()");
            wal = wal(statement);
        }
        double server = lab.cpuSeconds();
        long client = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();
        work.run();
        double seconds = (System.nanoTime() - began) / NANOS;
        double clientCpu = (PROCESS.getProcessCpuTime() - client) / NANOS;
        double serverCpu = lab.cpuSeconds() - server;
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            double written = wal(statement) - wal;
            try (ResultSet row = statement.executeQuery(
                    "select coalesce(sum(calls), 0), coalesce(sum(shared_blks_hit + shared_blks_read), 0)"
                            + " from pg_stat_statements s join pg_database d on d.oid = s.dbid"
                            + " where datname = current_database() and query not like '%pg_stat_statements%'"
                            + " and query not like '%pg_current_wal_insert_lsn%'")) {
                row.next();
                return new Cost(seconds, clientCpu, serverCpu, written, row.getDouble(1), row.getDouble(2));
            }
        }
    }

    private static double wal(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn")) {
            row.next();
            return row.getDouble(1);
        }
    }

    /**
     * What some work cost.
     *
     * @param seconds wall clock
     * @param clientCpu CPU seconds of this process
     * @param serverCpu CPU seconds of the server; NaN if unknown
     * @param walBytes WAL of the whole server
     * @param statements statements that the database ran, BEGIN and COMMIT included
     * @param buffers shared buffers that they touched
     */
    public record Cost(
            double seconds, double clientCpu, double serverCpu, double walBytes, double statements, double buffers) {}
}
