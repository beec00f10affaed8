package dev.backfill.testkit;

import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.FaultPoint.Exchange;
import dev.backfill.testkit.FaultPoint.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A source of real connections on which faults can be planted: before or after a statement or COMMIT reached the server, the
 * connection is cut, held at a gate, or answers with an error. "After" means that the server did it and the caller does not know.
 * Each fault strikes once. Thread-safe.
 *
 * <pre>{@code
 * FaultyConnections faults = FaultyConnections.over(database);
 * faults.after(FaultPoint.commit(), Fault.cut());
 * }</pre>
 *
 * @since 0.1
 */
public final class FaultyConnections implements ConnectionSource {

    private final ConnectionSource source;
    private final List<Planted> planted = new CopyOnWriteArrayList<>();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final AtomicLong ordinal = new AtomicLong();
    private final AtomicInteger struck = new AtomicInteger();

    private FaultyConnections(ConnectionSource source) {
        this.source = source;
    }

    /** Faults over a source of connections. */
    public static FaultyConnections over(ConnectionSource source) {
        return new FaultyConnections(source);
    }

    private record Planted(FaultPoint point, boolean before, Fault fault, AtomicInteger left) {}

    /** Strikes once, before the server hears of it. */
    public FaultyConnections before(FaultPoint point, Fault fault) {
        return plant(point, true, fault, 1);
    }

    /** Strikes once, after the server has done it and before the caller hears of it. */
    public FaultyConnections after(FaultPoint point, Fault fault) {
        return plant(point, false, fault, 1);
    }

    /** Strikes so many times, before the server hears of it. */
    public FaultyConnections before(FaultPoint point, int times, Fault fault) {
        return plant(point, true, fault, times);
    }

    private FaultyConnections plant(FaultPoint point, boolean before, Fault fault, int times) {
        planted.add(new Planted(point, before, fault, new AtomicInteger(times)));
        return this;
    }

    /** Removes every fault that has not struck. */
    public void heal() {
        planted.clear();
    }

    /** Counts exchanges from 1 again and forgets what was seen. */
    public void restart() {
        ordinal.set(0);
        seen.clear();
    }

    /** How many faults have struck. */
    public int struck() {
        return struck.get();
    }

    /** Exchanges since {@link #restart()}, each by its SQL, {@code COMMIT} or {@code ROLLBACK}. */
    public List<String> seen() {
        return List.copyOf(seen);
    }

    /** How many exchanges there were since {@link #restart()}. */
    public long exchanges() {
        return ordinal.get();
    }

    /**
     * Checks that every fault struck; otherwise the test proved nothing.
     *
     * @throws AssertionError if a planted fault never struck
     */
    public void assertAllStruck() {
        List<String> idle = new ArrayList<>();
        for (Planted fault : planted) {
            if (fault.left().get() > 0) {
                idle.add((fault.before() ? "before " : "after ") + fault.point());
            }
        }
        if (!idle.isEmpty()) {
            throw new AssertionError("These faults never struck: " + idle + ". Seen since the restart: " + seen);
        }
    }

    @Override
    public Connection get() throws SQLException {
        Exchange connect = new Exchange("", Kind.CONNECT, 0);
        Connection real = source.get();
        try {
            strike(connect, true, real);
        } catch (SQLException e) {
            real.close();
            throw e;
        }
        return FaultyConnection.wrap(this, real);
    }

    <T extends @Nullable Object> T exchange(Connection real, Kind kind, String sql, Callable<T> onServer)
            throws Exception {
        Exchange exchange = new Exchange(sql, kind, ordinal.incrementAndGet());
        seen.add(kind == Kind.STATEMENT ? sql : kind.name());
        strike(exchange, true, real);
        T answer = onServer.call();
        strike(exchange, false, real);
        return answer;
    }

    private void strike(Exchange exchange, boolean before, Connection real) throws SQLException {
        for (Planted fault : planted) {
            if (fault.before() == before
                    && fault.point().matches(exchange)
                    && fault.left().getAndDecrement() > 0) {
                struck.incrementAndGet();
                fault.fault().strike(real);
            }
        }
    }
}
