package dev.backfill.postgres.internal.jdbc;

import dev.backfill.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Opens sessions on the host's connection source. Thread-safe.
 *
 * @param source the host's
 * @param preparedStatements whether statements may be prepared on the server
 */
public record Sessions(ConnectionSource source, boolean preparedStatements) {

    /** A session whose reads from the socket time out. */
    public Session open(Duration socketTimeout) throws SQLException {
        Connection connection = source.get();
        if (connection == null) {
            throw new UnusableConnectionException("The connection source returned null.");
        }
        return Session.over(connection, socketTimeout, preparedStatements);
    }
}
