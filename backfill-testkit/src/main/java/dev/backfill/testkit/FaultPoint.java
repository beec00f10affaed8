package dev.backfill.testkit;

import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A place in the conversation with the server at which a fault may strike. Immutable.
 *
 * @since 0.1
 */
public final class FaultPoint {

    private static final Pattern COMMIT = Pattern.compile("(^|;)\\s*commit\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern COMMENTS = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);

    private final String name;
    private final Predicate<Exchange> matches;

    private FaultPoint(String name, Predicate<Exchange> matches) {
        this.name = name;
        this.matches = matches;
    }

    /** What is about to be sent, or was just answered. */
    record Exchange(String sql, Kind kind, long ordinal) {}

    enum Kind {
        CONNECT,
        STATEMENT,
        COMMIT,
        ROLLBACK
    }

    /** An engine statement by its comment: {@code tagged("fence")} is the one that carries {@code backfill:fence}. */
    public static FaultPoint tagged(String tag) {
        Pattern comment = Pattern.compile("/\\*[^*]*\\bbackfill:" + Pattern.quote(tag) + "\\b[^*]*\\*/");
        return new FaultPoint(
                "the statement tagged backfill:" + tag,
                exchange -> comment.matcher(exchange.sql()).find());
    }

    /** A statement that contains a text, comments included. */
    public static FaultPoint containing(String text) {
        return new FaultPoint(
                "a statement with '" + text + "'", exchange -> exchange.sql().contains(text));
    }

    /** The COMMIT, whether called or written as SQL, alone or at the end of a flush. */
    public static FaultPoint commit() {
        return new FaultPoint("COMMIT", exchange -> isCommit(exchange));
    }

    /** The rollback. */
    public static FaultPoint rollback() {
        return new FaultPoint("ROLLBACK", exchange -> exchange.kind() == Kind.ROLLBACK);
    }

    /** The next connection that is asked for. */
    public static FaultPoint connect() {
        return new FaultPoint("a new connection", exchange -> exchange.kind() == Kind.CONNECT);
    }

    /** The n-th exchange since {@link FaultyConnections#restart()}, from 1; COMMIT and rollback count, new connections don't. */
    public static FaultPoint exchange(long number) {
        return new FaultPoint("exchange " + number, exchange -> exchange.ordinal() == number);
    }

    boolean matches(Exchange exchange) {
        return matches.test(exchange);
    }

    static boolean isCommit(Exchange exchange) {
        return exchange.kind() == Kind.COMMIT
                || (exchange.kind() == Kind.STATEMENT
                        && COMMIT.matcher(COMMENTS.matcher(exchange.sql()).replaceAll(" "))
                                .find());
    }

    @Override
    public String toString() {
        return name;
    }
}
