package dev.backfill.postgres.chaos;

import dev.backfill.postgres.schema.OwnServer;
import dev.backfill.testkit.server.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;

/** A server of this run alone, because it is restarted again and again. */
final class ChaosServer implements PostgresServer, AutoCloseable {

    private static final String DATABASE = "postgres";

    private final OwnServer server;
    private final String url;

    ChaosServer(Path directory) throws IOException {
        this.server = OwnServer.in(directory);
        this.url = server.url();
    }

    /** An orderly restart: sessions are ended, the port stays. */
    void restart() throws IOException {
        server.startAgain(server.stop());
    }

    @Override
    public String urlOf(String database) {
        return url.replace("/" + DATABASE + "?", "/" + database + "?");
    }

    @Override
    public String adminDatabase() {
        return DATABASE;
    }

    @Override
    public String origin() {
        return "of the chaos run";
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
