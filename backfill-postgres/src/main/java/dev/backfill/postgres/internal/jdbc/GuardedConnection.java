package dev.backfill.postgres.internal.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The connection that definition code gets: it can do anything but end, nest or escape the transaction, or leave a trace in the
 * session (AT-2). What slips through, a COMMIT inside a DO block for instance, is caught by the transaction ID in the fence.
 *
 * <p>Remembers the first refusal and the last SQL error, because code may swallow both. Confined to one thread.
 */
public final class GuardedConnection {

    private static final Set<String> REFUSED = Set.of(
            "commit",
            "setAutoCommit",
            "close",
            "abort",
            "setTransactionIsolation",
            "setReadOnly",
            "setSchema",
            "setCatalog",
            "setNetworkTimeout",
            "setHoldability",
            "setClientInfo",
            "setTypeMap",
            "beginRequest",
            "endRequest",
            "setShardingKey",
            "setShardingKeyIfValid");

    // The most special first.
    private static final List<Class<?>> FOLLOWED = List.of(
            CallableStatement.class,
            PreparedStatement.class,
            Statement.class,
            ResultSet.class,
            DatabaseMetaData.class,
            Array.class);

    // PREPARE … / EXECUTE are refused too: they leave a named statement in the session, and EXECUTE hides what it runs.
    private static final Pattern REFUSED_COMMAND = Pattern.compile(
            "(?:^|;)\\s*(begin|start\\s+transaction|commit|end|abort|prepare|rollback(?!\\s+(?:work\\s+|transaction\\s+)?to\\b)"
                    + "|set|reset|discard|listen|unlisten|notify|load|lock|copy\\s[^;]*\\bprogram\\b|deallocate"
                    + "|execute|declare\\s[^;]*\\bwith\\s+hold\\b)\\b",
            Pattern.DOTALL);
    private static final Pattern SESSION_FUNCTION =
            Pattern.compile("\\b(?:set_config|pg_(?:try_)?advisory_lock(?:_shared)?|dblink_exec)\\s*\\("
                    + "|\\bupdate\\s+(?:only\\s+)?(?:pg_catalog\\s*\\.\\s*)?pg_settings\\b");

    private static final Pattern ESCAPED_NAME = Pattern.compile("(?<![A-Za-z0-9_$])[uU]&\"");

    private final Connection target;
    private final Connection proxy;
    private @Nullable String refusal;
    private @Nullable SQLException lastError;
    private long quietSince = System.nanoTime();
    private long longestQuiet;
    // Read by whatever thread a definition may have handed its connection to.
    private volatile boolean ended;

    /** Guards a connection. */
    public GuardedConnection(Connection target) {
        this.target = target;
        this.proxy = (Connection) Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this::onConnection);
    }

    /** What the definition's code is given. */
    public Connection proxy() {
        return proxy;
    }

    /** What was refused first, or null. */
    public @Nullable String refusal() {
        return refusal;
    }

    /** The last SQL error of a statement of the definition, or null. */
    public @Nullable SQLException lastError() {
        return lastError;
    }

    /** The longest time that the definition's code let pass between two statements, or since the last one. */
    public Duration longestQuiet() {
        return Duration.ofNanos(Math.max(longestQuiet, ended ? 0 : System.nanoTime() - quietSince));
    }

    /** The definition's code has returned: what it kept of the connection is of no more use, wherever the engine goes on. */
    public void end() {
        longestQuiet = longestQuiet().toNanos();
        ended = true;
    }

    private void requireOpen() throws SQLException {
        if (ended) {
            throw new SQLException("This connection belonged to a batch or validation that is over.", "08003");
        }
    }

    private @Nullable Object onConnection(Object self, Method method, @Nullable Object @Nullable [] args)
            throws Throwable {
        String name = method.getName();
        if (REFUSED.contains(name) || (name.equals("rollback") && (args == null || args.length == 0))) {
            throw refuse("Connection." + name + "()");
        }
        if (name.equals("unwrap")) {
            throw refuse("Connection.unwrap()");
        }
        return switch (name) {
            case "isWrapperFor", "getAutoCommit" -> false;
            case "equals" -> args != null && self == args[0];
            case "hashCode" -> System.identityHashCode(self);
            case "toString" -> "guarded connection of a backfill transaction";
            case "isClosed" -> ended;
            default -> passOn(method, args);
        };
    }

    private @Nullable Object passOn(Method method, @Nullable Object @Nullable [] args) throws Throwable {
        requireOpen();
        checkSql(args);
        return guarded(invoke(target, method, args));
    }

    /** Whatever leads back to the connection leads to the guarded one; everything else is passed on as it is. */
    private @Nullable Object guarded(@Nullable Object result) {
        Class<?> type =
                FOLLOWED.stream().filter(t -> t.isInstance(result)).findFirst().orElse(null);
        return type == null || result == null
                ? result
                : Proxy.newProxyInstance(
                        GuardedConnection.class.getClassLoader(), new Class<?>[] {type}, follow(result, type));
    }

    private InvocationHandler follow(Object target, Class<?> type) {
        boolean takesSql = Statement.class.isAssignableFrom(type);
        return (self, method, args) -> {
            String name = method.getName();
            if (name.equals("getConnection")) {
                return proxy;
            }
            if (name.equals("isWrapperFor")) {
                return false;
            }
            // A timer of the driver would cancel whatever this session runs by then, the fence included.
            if (name.equals("unwrap") || name.equals("setQueryTimeout")) {
                throw refuse(type.getSimpleName() + "." + name + "()");
            }
            if (ended && name.equals("close")) {
                return null;
            }
            requireOpen();
            if (takesSql) {
                checkSql(args);
            }
            return guarded(invoke(target, method, args));
        };
    }

    private void checkSql(@Nullable Object @Nullable [] args) {
        if (args == null || args.length == 0 || !(args[0] instanceof String sql)) {
            return;
        }
        String bare = SqlText.withoutQuoted(sql).toLowerCase(Locale.ROOT);
        Matcher command = REFUSED_COMMAND.matcher(bare);
        if (command.find()) {
            // Its first word: a keyword of ours, whatever stands before and after it.
            throw refuse(
                    "the SQL command " + command.group(1).split("\\s", 2)[0].toUpperCase(Locale.ROOT));
        }
        if (ESCAPED_NAME.matcher(sql).find()) {
            throw refuse("a name in Unicode escapes, which may be that of any function");
        }
        // A quoted name is the same function; what only looks like one inside a literal is refused with it.
        if (SESSION_FUNCTION.matcher(bare).find()
                || SESSION_FUNCTION
                        .matcher(sql.replace("\"", "").toLowerCase(Locale.ROOT))
                        .find()) {
            throw refuse("a function that changes the session");
        }
    }

    private TransactionControlRefusedException refuse(String what) {
        if (refusal == null) {
            refusal = what;
        }
        return new TransactionControlRefusedException(what);
    }

    private @Nullable Object invoke(Object on, Method method, @Nullable Object @Nullable [] args) throws Throwable {
        // Only what is sent to the server counts: to read on in a result keeps no session from being idle.
        boolean sent = method.getName().startsWith("execute");
        if (sent) {
            longestQuiet = longestQuiet().toNanos();
        }
        try {
            return method.invoke(on, args);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SQLException sql) {
                lastError = sql;
            }
            throw e.getCause() == null ? e : e.getCause();
        } finally {
            if (sent) {
                quietSince = System.nanoTime();
            }
        }
    }
}
