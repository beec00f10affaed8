package dev.backfill.postgres.internal.jdbc;

import dev.backfill.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

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
        Connection connection = borrow();
        if (connection == null) {
            throw new UnusableConnectionException("The connection source returned null.");
        }
        if (open.stream().anyMatch(session -> session.uses(connection))) {
            // Left as it is: whoever has it still works with it.
            throw new UnusableConnectionException(
                    "The connection source handed out a connection that is in use already."
                            + " Each call must give one of its own until that is closed.");
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

    /** Whatever a source throws says that there is no connection, and nothing about a definition. */
    @SuppressWarnings("checkstyle:IllegalCatch") // A driver that can't be loaded is an Error, and no less an outage.
    private @Nullable Connection borrow() throws NoConnectionException {
        try {
            return source.get();
        } catch (SQLException | RuntimeException | Error e) {
            throw new NoConnectionException(e);
        }
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
