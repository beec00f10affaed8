package dev.backfill.testkit;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * What goes wrong at a {@link FaultPoint}.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Fault {

    /**
     * Strikes, on the thread that talks to the server.
     *
     * @param real the connection behind; closed already where none was opened yet
     * @throws SQLException what the caller gets instead of an answer
     */
    void strike(Connection real) throws SQLException;

    /** The socket is aborted and the caller gets SQLSTATE 08006, as when the network fails: it can't tell what the server did. */
    static Fault cut() {
        return real -> {
            real.abort(Runnable::run);
            throw new SQLException("The test cut this connection.", "08006");
        };
    }

    /** The caller gets an error of that SQLSTATE; the connection stays as it is. */
    static Fault fail(String sqlState) {
        return real -> {
            throw new SQLException("The test answers with SQLSTATE " + sqlState + ".", sqlState);
        };
    }

    /** The thread waits at a gate, as a process does that is stopped or collects garbage, and then goes on. */
    static Fault hold(Gate gate) {
        return real -> gate.hold();
    }

    /** The test's own code runs at that moment. */
    static Fault run(Runnable code) {
        return real -> code.run();
    }

    /** One after the other: {@code hold(gate).then(cut())}. */
    default Fault then(Fault next) {
        return real -> {
            strike(real);
            next.strike(real);
        };
    }
}
