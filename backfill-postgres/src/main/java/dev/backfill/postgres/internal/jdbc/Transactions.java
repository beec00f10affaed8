package dev.backfill.postgres.internal.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Opens short, bounded transactions on the library's own tables. Whether they may write is for the database, the role or the session to
 * say: a read-only default is how people stop writes before a switchover, and is obeyed (CF-10). Thread-safe.
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
        this.begin = Sql.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED;/* backfill:settings */ SELECT "
                + limits.asSelectItems()
                + ", pg_catalog.set_config('application_name', 'backfill control', true)");
    }

    /** What bounds each transaction. */
    public Limits limits() {
        return limits;
    }

    /**
     * Runs work in one transaction and commits it; any exception rolls it back, but for one. Work that failed for a cause that can be
     * taken away runs once more.
     *
     * @throws UnknownOutcomeException if the connection was lost at COMMIT
     */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        try {
            return once(work);
        } catch (SQLException e) {
            MendableException mendable = MendableException.in(e);
            if (mendable == null) {
                throw e;
            }
            mend(mendable, e);
            return once(work);
        }
    }

    private void mend(MendableException mendable, SQLException failure) throws SQLException {
        try {
            once(session -> {
                mendable.mend(session);
                return true;
            });
        } catch (SQLException e) {
            failure.addSuppressed(e);
            throw failure;
        }
    }

    private <T> T once(Work<T> work) throws SQLException {
        try (Session session = sessions.open(socketTimeout)) {
            try (PreparedStatement statement = begin.prepare(session.connection(), Sql.Params.none())) {
                statement.execute();
                T result = work.in(session);
                commit(session);
                return result;
            } catch (SQLException e) {
                session.failed(e);
                throw e;
            }
        }
    }

    private static void commit(Session session) throws SQLException {
        try {
            session.commit();
        } catch (SQLException e) {
            if (SqlFailure.of(e) == SqlFailure.INFRASTRUCTURE) {
                throw new UnknownOutcomeException(e);
            }
            throw e;
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
