package dev.backfill.testkit;

import dev.backfill.testkit.FaultPoint.Kind;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Wraps a connection and its statements so that every exchange with the server passes the planted faults. */
final class FaultyConnection implements InvocationHandler {

    private final FaultyConnections faults;
    private final Connection real;

    private FaultyConnection(FaultyConnections faults, Connection real) {
        this.faults = faults;
        this.real = real;
    }

    static Connection wrap(FaultyConnections faults, Connection real) {
        return proxy(Connection.class, new FaultyConnection(faults, real));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        return switch (method.getName()) {
            case "commit" -> faults.exchange(real, Kind.COMMIT, "", () -> call(method, real, arguments));
            case "rollback" -> faults.exchange(real, Kind.ROLLBACK, "", () -> call(method, real, arguments));
            case "createStatement" -> statement(proxy, Statement.class, call(method, real, arguments), "");
            case "prepareStatement" ->
                statement(proxy, PreparedStatement.class, call(method, real, arguments), sql(arguments));
            case "prepareCall" ->
                statement(proxy, CallableStatement.class, call(method, real, arguments), sql(arguments));
            default -> isIdentity(method) ? identity(proxy, method, arguments) : call(method, real, arguments);
        };
    }

    private <S extends Statement> S statement(Object owner, Class<S> type, @Nullable Object target, String sql) {
        return proxy(type, new FaultyStatement((Connection) owner, (Statement) Objects.requireNonNull(target), sql));
    }

    private static String sql(@Nullable Object @Nullable [] arguments) {
        return arguments != null && arguments.length > 0 && arguments[0] instanceof String sql ? sql : "";
    }

    private final class FaultyStatement implements InvocationHandler {

        private final Connection owner;
        private final Statement target;
        private final String prepared;
        private final List<String> batch = new ArrayList<>();

        FaultyStatement(Connection owner, Statement target, String prepared) {
            this.owner = owner;
            this.target = target;
            this.prepared = prepared;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            String name = method.getName();
            if (name.equals("getConnection")) {
                return owner;
            }
            if (name.equals("addBatch")) {
                batch.add(sql(arguments));
            }
            if (name.startsWith("execute")) {
                String sql = name.contains("Batch") ? prepared + String.join(";", batch) : prepared + sql(arguments);
                batch.clear();
                return faults.exchange(real, Kind.STATEMENT, sql, () -> call(method, target, arguments));
            }
            return isIdentity(method) ? identity(proxy, method, arguments) : call(method, target, arguments);
        }
    }

    // A proxy is only itself: delegating equals would make it equal to nothing, not even to itself.
    private static boolean isIdentity(Method method) {
        return method.getDeclaringClass() == Object.class && !method.getName().equals("toString");
    }

    private static Object identity(Object proxy, Method method, @Nullable Object @Nullable [] arguments) {
        return method.getName().equals("equals")
                ? (Object) (arguments != null && proxy == arguments[0])
                : (Object) System.identityHashCode(proxy);
    }

    private static @Nullable Object call(Method method, Object target, @Nullable Object @Nullable [] arguments)
            throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(FaultyConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
