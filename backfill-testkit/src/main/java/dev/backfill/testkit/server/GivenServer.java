package dev.backfill.testkit.server;

/** A server that somebody else runs, known by the URL of one of its databases. */
final class GivenServer implements PostgresServer {

    private static final String PREFIX = "jdbc:postgresql:";

    private final String before;
    private final String database;
    private final String after;

    GivenServer(String url) {
        int query = url.indexOf('?');
        String path = query < 0 ? url : url.substring(0, query);
        int slash = path.lastIndexOf('/');
        if (!url.startsWith(PREFIX + "//") || slash < PREFIX.length() + 2 || slash == path.length() - 1) {
            throw new IllegalArgumentException("BACKFILL_TEST_JDBC_URL must look like"
                    + " jdbc:postgresql://host:port/database?user=name; the one given does not.");
        }
        this.before = path.substring(0, slash + 1);
        this.database = path.substring(slash + 1);
        this.after = query < 0 ? "" : url.substring(query);
    }

    @Override
    public String urlOf(String name) {
        return before + name + after;
    }

    @Override
    public String adminDatabase() {
        return database;
    }

    @Override
    public String origin() {
        // Without the parameters, which may hold a password.
        return "given by URL, " + before;
    }
}
