package dev.backfill.postgres.internal.jdbc;

import dev.backfill.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Opens sessions on the host's connection source, and ends them all when the engine must not wait for them any longer. Thread-safe. */
public final class Sessions implements AutoCloseable {

    private final ConnectionSource source;
    private final boolean preparedStatements;
    private final Set<Session> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Over a source of connections.
     *
     * @param source the host's
     * @param preparedStatements whether statements may be prepared on the server
     */
    public Sessions(ConnectionSource source, boolean preparedStatements) {
        this.source = source;
        this.preparedStatements = preparedStatements;
    }

    /** A session whose reads from the socket time out. */
    public Session open(Duration socketTimeout) throws SQLException {
        refuseIfClosed();
        Connection connection = source.get();
        if (connection == null) {
            throw new UnusableConnectionException("The connection source returned null.");
        }
        Session session = Session.over(connection, socketTimeout, preparedStatements, open::remove);
        open.add(session);
        if (closed) {
            // Closed since it was asked for: whoever closed may not have seen this one.
            session.abort();
            session.close();
            refuseIfClosed();
        }
        return session;
    }

    private void refuseIfClosed() throws SQLException {
        if (closed) {
            throw new SQLException("the engine is closed", "08003");
        }
    }

    /**
     * Refuses new sessions and aborts those there are: a thread that waits for the server gets an exception at once, and the server
     * rolls back what was open.
     */
    @Override
    public void close() {
        closed = true;
        open.forEach(Session::abort);
    }
}
