package dev.backfill.example.relay.http;

import dev.backfill.host.Readiness;
import java.io.IOException;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ordinary serving. Liveness asks nobody; readiness asks the library; events ask the database.
 *
 * <p>Whether traffic comes here while {@code /readyz} is 503 is the decision of whoever routes it (CF-6).
 */
public final class Serving extends Handler.Abstract {

    private static final Logger LOG = LoggerFactory.getLogger(Serving.class);
    private static final int MAX_PAGE = 200;

    private final Supplier<Readiness> readiness;
    private final Supplier<Optional<DataSource>> database;

    /**
     * Serves what these say at each request.
     *
     * @param readiness never throws and is cheap
     * @param database empty while the relay starts
     */
    public Serving(Supplier<Readiness> readiness, Supplier<Optional<DataSource>> database) {
        this.readiness = readiness;
        this.database = database;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws IOException {
        String path = Request.getPathInContext(request);
        if (!request.getMethod().equals("GET")) {
            JsonAnswer.send(response, callback, 405, Map.of("error", "only GET is served here"));
            return true;
        }
        switch (path) {
            case "/healthz" -> JsonAnswer.send(response, callback, 200, Map.of("alive", true));
            case "/readyz" -> sendReadiness(response, callback);
            case "/events" -> sendEvents(request, response, callback);
            default ->
                JsonAnswer.send(response, callback, 404, Map.of("error", "there are /healthz, /readyz and /events"));
        }
        return true;
    }

    private void sendReadiness(Response response, Callback callback) throws IOException {
        Readiness now = readiness.get();
        Map<String, Object> inputs = new LinkedHashMap<>();
        inputs.put("database", input(now.database()));
        inputs.put("schema", input(now.schema()));
        inputs.put("backfills", input(now.backfills()));
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("ready", now.isOpen());
        body.put("inputs", inputs);
        JsonAnswer.send(response, callback, now.isOpen() ? 200 : 503, body);
    }

    private static Map<String, @Nullable Object> input(Readiness.Input input) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("ok", input.ok());
        body.put("reason", input.reason());
        return body;
    }

    private void sendEvents(Request request, Response response, Callback callback) throws IOException {
        Fields query = Request.extractQueryParameters(request);
        Optional<Long> before = number(query.getValue("before"), Long.MAX_VALUE);
        Optional<Long> limit = number(query.getValue("limit"), 50).filter(n -> n >= 1 && n <= MAX_PAGE);
        if (before.isEmpty() || limit.isEmpty()) {
            JsonAnswer.send(
                    response, callback, 400, Map.of("error", "before is an event's id, limit is 1 to " + MAX_PAGE));
            return;
        }
        Optional<DataSource> source = database.get();
        if (source.isEmpty()) {
            JsonAnswer.send(response, callback, 503, Map.of("error", "the relay is starting"));
            return;
        }
        try {
            Map<String, @Nullable Object> page = new RecentEvents(source.get())
                    .page(before.get(), limit.get().intValue());
            JsonAnswer.send(response, callback, 200, page);
        } catch (SQLException e) {
            LOG.warn("/events failed with SQLSTATE {}", e.getSQLState());
            JsonAnswer.send(response, callback, 503, Map.of("error", "the database can't answer now"));
        }
    }

    private static Optional<Long> number(@Nullable String text, long otherwise) {
        try {
            return Optional.of(text == null ? otherwise : Long.parseLong(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
