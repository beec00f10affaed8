package dev.backfill.postgres.internal.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Opens short, bounded transactions on the library's own tables. Thread-safe.
 */
public final class Transactions {

    private final Sessions sessions;
    private final Limits limits;
    private final Duration socketTimeout;
    private final Sql begin;

    /** Over a source of sessions, with limits for each transaction. */
    public Transactions(Sessions sessions, Limits limits, Duration socketTimeout) {
        this.sessions = sessions;
        this.limits = limits;
        this.socketTimeout = socketTimeout;
        this.begin = Sql.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;/* backfill:settings */ SELECT "
                + limits.asSelectItems()
                + ", pg_catalog.set_config('application_name', 'backfill control', true)");
    }

    /** What bounds each transaction. */
    public Limits limits() {
        return limits;
    }

    /** Runs work in one transaction and commits it; any exception rolls it back. */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        try (Session session = sessions.open(socketTimeout)) {
            try (PreparedStatement statement = begin.prepare(session.connection(), Sql.Params.none())) {
                statement.execute();
                T result = work.in(session);
                session.commit();
                return result;
            } catch (SQLException e) {
                session.failed(e);
                throw e;
            }
        }
    }

    /**
     * Work inside a transaction.
     *
     * @param <T> its result
     */
    @FunctionalInterface
    public interface Work<T> {
        /** Does it, without ending the transaction. */
        T in(Session session) throws SQLException;
    }
}
