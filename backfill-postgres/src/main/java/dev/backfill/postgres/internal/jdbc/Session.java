package dev.backfill.postgres.internal.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;

/**
 * One borrowed connection for one transaction. Closing it rolls back what is open and returns it as it came; a connection that saw
 * anything odd is aborted instead, so that the pool can't hand it on. Confined to one thread.
 */
public final class Session implements AutoCloseable {

    private final Connection connection;
    private final BaseConnection driver;
    private final int formerNetworkTimeout;
    private final int formerPrepareThreshold;
    private final Consumer<Session> whenClosed;
    private volatile boolean spoiled;

    private Session(
            Connection connection, Duration socketTimeout, boolean preparedStatements, Consumer<Session> whenClosed)
            throws SQLException {
        this.connection = connection;
        this.whenClosed = whenClosed;
        this.driver = connection.unwrap(BaseConnection.class);
        this.formerNetworkTimeout = connection.getNetworkTimeout();
        this.formerPrepareThreshold = connection.unwrap(PGConnection.class).getPrepareThreshold();
        requireClean(connection, driver);
        // Client-side only, so it is no session state on the server; put back in close().
        connection.setNetworkTimeout(Runnable::run, Math.toIntExact(socketTimeout.toMillis()));
        if (!preparedStatements) {
            connection.unwrap(PGConnection.class).setPrepareThreshold(0);
        }
        connection.setAutoCommit(false);
    }

    static Session over(
            Connection connection, Duration socketTimeout, boolean preparedStatements, Consumer<Session> whenClosed)
            throws SQLException {
        try {
            return new Session(connection, socketTimeout, preparedStatements, whenClosed);
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static void requireClean(Connection connection, BaseConnection driver) throws SQLException {
        if (!connection.getAutoCommit() || driver.getTransactionState() != TransactionState.IDLE) {
            throw new UnusableConnectionException(
                    "The connection source handed out a connection with auto-commit off or inside"
                            + " a transaction. The engine must own its transactions: give it connections in auto-commit mode.");
        }
        if (connection.unwrap(PGConnection.class).getPrepareThreshold() < 0) {
            throw new UnusableConnectionException(
                    "The connection source sets the driver's prepareThreshold to -1, which forces a binary mode that several"
                            + " statements in one flush don't work in. Leave it at its default, or set it to 0 or more.");
        }
        if (driver.getAutosave() != AutoSave.NEVER) {
            throw new UnusableConnectionException(
                    "The connection source sets the driver's autosave to " + driver.getAutosave()
                            + ". It would hide failed statements inside a batch: leave autosave at NEVER for the engine.");
        }
    }

    /** The connection, in an explicit transaction from its first statement on. */
    public Connection connection() {
        return connection;
    }

    /** Whether it is this connection that the session works with, itself or inside of a pool's own. */
    boolean uses(Connection other) {
        try {
            return driver == other.unwrap(BaseConnection.class);
        } catch (SQLException e) {
            return false;
        }
    }

    /** Whether a statement has failed and the transaction can only be rolled back. */
    public boolean isFailed() {
        return driver.getTransactionState() == TransactionState.FAILED;
    }

    /** Whether no transaction is open. */
    public boolean isIdle() {
        return driver.getTransactionState() == TransactionState.IDLE;
    }

    /** Commits. SQL, not {@link Connection#commit()}, which returns normally for an aborted transaction. */
    public void commit() throws SQLException {
        try (PreparedStatement commit = connection.prepareStatement("COMMIT")) {
            commit.execute();
        }
    }

    /** Rolls back; the next statement begins a new transaction. */
    public void rollback() throws SQLException {
        connection.rollback();
    }

    /** After a flush that ended with COMMIT and was answered without an error. */
    public void requireCommitted() throws SQLException {
        if (!isIdle()) {
            throw new SQLException("the transaction is still open after COMMIT", "08007");
        }
    }

    /** The connection must not be used again by anybody. */
    public void spoil() {
        spoiled = true;
    }

    /** Marks the connection as unusable if the failure says so, and returns what the failure means. */
    public SqlFailure failed(SQLException e) {
        SqlFailure failure = SqlFailure.of(e);
        if (failure.spoilsConnection()) {
            spoil();
        }
        return failure;
    }

    /**
     * Ends the connection from any thread, for an engine that closes or a thread that does not come back: that thread gets an
     * exception from the next thing it does with it, and closes the session.
     */
    public void abort() {
        spoiled = true;
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // It is gone already, which is what was wanted; close() says the same once more.
            return;
        }
    }

    @Override
    public void close() {
        whenClosed.accept(this);
        if (!spoiled) {
            try {
                restore();
            } catch (SQLException e) {
                spoiled = true;
            }
        }
        try {
            if (spoiled) {
                connection.abort(Runnable::run);
            }
            connection.close();
        } catch (SQLException e) {
            // Nothing of value is lost: the server rolls back whatever this connection had open.
            spoiled = true;
        }
    }

    private void restore() throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback();
            connection.setAutoCommit(true);
        }
        connection.setNetworkTimeout(Runnable::run, formerNetworkTimeout);
        connection.unwrap(PGConnection.class).setPrepareThreshold(formerPrepareThreshold);
    }
}
