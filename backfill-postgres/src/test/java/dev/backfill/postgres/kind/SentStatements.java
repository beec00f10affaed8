package dev.backfill.postgres.kind;

import dev.backfill.spi.ConnectionSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Hands out connections and notes what the engine sends for repairs, parameters included, so that a test can explain the very
 * statement and not one that looks like it. Confined to one thread.
 */
final class SentStatements implements ConnectionSource {

    private static final String REPAIR = "/* backfill:repair */";

    private final ConnectionSource real;
    private final List<Sent> sent = new ArrayList<>();

    SentStatements(ConnectionSource real) {
        this.real = real;
    }

    /** One statement with its parameters as SQL literals, which may have another one before it that sets how it is planned. */
    record Sent(String sql, List<String> parameters) {

        private String preparation() {
            return sql.substring(0, sql.lastIndexOf(REPAIR));
        }

        /** The statement as {@code PREPARE} takes it. */
        private String numbered() {
            StringBuilder text = new StringBuilder();
            int next = 1;
            for (int i = preparation().length(); i < sql.length(); i++) {
                if (sql.charAt(i) != '?') {
                    text.append(sql.charAt(i));
                } else if (sql.startsWith("??", i)) {
                    text.append('?');
                    i++;
                } else {
                    text.append('$').append(next++);
                }
            }
            return text.toString();
        }

        /** The plan and what it cost, from a run that is rolled back; with the generic plan or the one for these parameters. */
        Plan explain(ConnectionSource source, boolean generic) throws SQLException {
            try (Connection connection = source.get();
                    var statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute(
                        "set local plan_cache_mode = " + (generic ? "force_generic_plan" : "force_custom_plan")
                                + "; set local jit = off; set local backfill.gate = 'open'; " + preparation());
                statement.execute("prepare sent_ as " + numbered());
                try (var rows =
                        statement.executeQuery("explain (analyze, buffers, costs off, timing off) execute sent_ ("
                                + String.join(", ", parameters) + ")")) {
                    List<String> lines = new ArrayList<>();
                    while (rows.next()) {
                        lines.add(rows.getString(1));
                    }
                    return new Plan(lines);
                } finally {
                    connection.rollback();
                    statement.execute("deallocate all");
                }
            }
        }
    }

    /** Every repair statement since the last call, in order. */
    List<Sent> take() {
        List<Sent> taken = List.copyOf(sent);
        sent.clear();
        return taken;
    }

    @Override
    public Connection get() throws SQLException {
        Connection connection = real.get();
        return proxy(Connection.class, (method, arguments) -> {
            Object result = call(connection, method, arguments);
            if (!method.getName().equals("prepareStatement") || arguments == null) {
                return result;
            }
            String sql = (String) arguments[0];
            return sql != null && isRepair(sql) ? noting(sql, (PreparedStatement) result) : result;
        });
    }

    /** Not what explains one. */
    private static boolean isRepair(String sql) {
        return sql.startsWith(REPAIR) || (sql.startsWith("/* backfill:begin */") && sql.contains(REPAIR));
    }

    private PreparedStatement noting(String sql, @Nullable Object target) {
        List<String> literals = new ArrayList<>();
        return proxy(PreparedStatement.class, (method, arguments) -> {
            if (method.getName().startsWith("set") && arguments != null && arguments.length == 2) {
                literals.add(literal(arguments[1]));
            }
            if (method.getName().startsWith("execute")) {
                // Without what opened the batch in the same flush, and its parameters.
                int from = sql.indexOf(REPAIR);
                int before = (int)
                        sql.substring(0, from).chars().filter(c -> c == '?').count();
                sent.add(new Sent(sql.substring(from), List.copyOf(literals.subList(before, literals.size()))));
            }
            return call(target, method, arguments);
        });
    }

    private static String literal(@Nullable Object value) throws SQLException {
        if (value == null) {
            return "null";
        }
        if (value instanceof Array array) {
            return Arrays.stream((Object[]) array.getArray())
                    .map(e -> e == null
                            ? "null"
                            : "E'" + e.toString().replace("\\", "\\\\").replace("'", "''") + "'")
                    .collect(Collectors.joining(", ", "array[", "]::text[]"));
        }
        return value.toString();
    }

    private interface Handler {
        @Nullable
        Object handle(Method method, @Nullable Object @Nullable [] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
        return type.cast(Proxy.newProxyInstance(
                SentStatements.class.getClassLoader(), new Class<?>[] {type}, (self, m, a) -> handler.handle(m, a)));
    }

    private static @Nullable Object call(
            @Nullable Object target, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
