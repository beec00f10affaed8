package dev.backfill.postgres.internal.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One statement, or several that travel in one flush, with named parameters. Compiled once, used often; immutable.
 *
 * <p>{@code :name} is a parameter and {@code {name}} a fragment that is put in as it is, a definition's SQL for instance. Inside
 * quotes and comments neither means anything, and {@code ::} stays a cast.
 */
public final class Sql {

    private static final Pattern TOKEN = Pattern.compile(
            "(?<quoted>" + SqlText.QUOTED + ")|(?<cast>::)|:(?<param>[a-z][a-z0-9_]*)|\\{(?<fragment>[a-z][a-z0-9_]*)}",
            Pattern.DOTALL);

    private final String text;
    private final List<String> parameters;

    private Sql(String text, List<String> parameters) {
        this.text = text;
        this.parameters = List.copyOf(parameters);
    }

    /** Compiles a statement without fragments. */
    public static Sql of(String template) {
        return of(template, Map.of());
    }

    /** Compiles a statement with fragments; their question marks must be escaped already. */
    public static Sql of(String template, Map<String, String> fragments) {
        List<String> parameters = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        Matcher matcher = TOKEN.matcher(template);
        while (matcher.find()) {
            matcher.appendReplacement(text, Matcher.quoteReplacement(replacement(matcher, fragments, parameters)));
        }
        matcher.appendTail(text);
        return new Sql(text.toString(), parameters);
    }

    private static String replacement(Matcher found, Map<String, String> fragments, List<String> parameters) {
        if (found.group("param") != null) {
            parameters.add(found.group("param"));
            return "?";
        }
        String fragment = found.group("fragment");
        if (fragment == null) {
            return found.group();
        }
        String value = fragments.get(fragment);
        if (value == null) {
            throw new IllegalArgumentException("no fragment " + fragment);
        }
        return value;
    }

    /** The text that is sent. */
    public String text() {
        return text;
    }

    /** The same with another text, which must have the same parameters in the same order. */
    public Sql withText(UnaryOperator<String> change) {
        return new Sql(change.apply(text), parameters);
    }

    /** This statement and another one in one flush; each begins with its own comment in {@code pg_stat_activity}. */
    public Sql then(Sql next) {
        return new Sql(
                text + ";" + next.text,
                Stream.concat(parameters.stream(), next.parameters.stream()).toList());
    }

    /** The same statement behind EXPLAIN, which plans it and does not run it. */
    public Sql explained() {
        return new Sql("/* backfill:explain */ EXPLAIN (FORMAT JSON) " + text, parameters);
    }

    /** Prepares it with all parameters given. */
    public PreparedStatement prepare(Connection connection, Params params) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(text);
        try {
            for (int i = 0; i < parameters.size(); i++) {
                bind(connection, statement, i + 1, params.get(parameters.get(i)));
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    private static void bind(Connection connection, PreparedStatement statement, int index, @Nullable Object value)
            throws SQLException {
        if (value instanceof Object[] texts) {
            statement.setArray(index, connection.createArrayOf("text", texts));
        } else if (value instanceof Instant instant) {
            statement.setObject(index, instant.atOffset(ZoneOffset.UTC));
        } else {
            statement.setObject(index, value);
        }
    }

    /** Runs an update and returns the number of rows it changed. */
    public int update(Connection connection, Params params) throws SQLException {
        try (PreparedStatement statement = prepare(connection, params)) {
            return statement.executeUpdate();
        }
    }

    /** Named values. Confined to one thread. */
    public static final class Params {

        private final Map<String, @Nullable Object> values = new HashMap<>();

        /** No values yet. */
        public static Params none() {
            return new Params();
        }

        /** One value to begin with. */
        public static Params of(String name, @Nullable Object value) {
            return new Params().and(name, value);
        }

        /** One more value. */
        public Params and(String name, @Nullable Object value) {
            values.put(name, value);
            return this;
        }

        /** All of others as well. */
        public Params and(Params others) {
            values.putAll(others.values);
            return this;
        }

        private @Nullable Object get(String name) {
            if (!values.containsKey(name)) {
                throw new IllegalArgumentException("no value for parameter " + name);
            }
            return values.get(name);
        }
    }
}
