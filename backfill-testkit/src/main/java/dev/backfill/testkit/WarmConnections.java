package dev.backfill.testkit;

import dev.backfill.spi.ConnectionSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Connections that are open before a race begins, because opening one takes longer than what the race is about. Closing one gives
 * it back; a broken one is replaced. More than were warmed are opened when asked for. Thread-safe.
 *
 * @since 0.1
 */
public final class WarmConnections implements ConnectionSource, AutoCloseable {

    private final ConnectionSource source;
    private final Deque<Connection> idle = new ArrayDeque<>();

    /** Opens so many at once. */
    public WarmConnections(ConnectionSource source, int count) throws SQLException {
        this.source = source;
        for (int i = 0; i < count; i++) {
            idle.push(source.get());
        }
    }

    @Override
    public Connection get() throws SQLException {
        Connection warm;
        synchronized (idle) {
            warm = idle.poll();
        }
        return lend(warm == null ? source.get() : warm);
    }

    private Connection lend(Connection real) {
        return (Connection) Proxy.newProxyInstance(
                WarmConnections.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        giveBack(real);
                        return null;
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    private void giveBack(Connection real) throws SQLException {
        if (real.isClosed() || !real.getAutoCommit()) {
            real.close();
            return;
        }
        synchronized (idle) {
            if (!idle.contains(real)) {
                idle.push(real);
            }
        }
    }

    @Override
    public void close() throws SQLException {
        synchronized (idle) {
            for (Connection connection : idle) {
                connection.close();
            }
            idle.clear();
        }
    }
}
