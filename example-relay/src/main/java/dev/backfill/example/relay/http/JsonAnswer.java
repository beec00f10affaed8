package dev.backfill.example.relay.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Answers in JSON, never cached. */
final class JsonAnswer {

    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private JsonAnswer() {}

    static void send(Response response, Callback callback, int status, Object body) throws java.io.IOException {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        response.write(true, ByteBuffer.wrap(JSON.writeValueAsBytes(body)), callback);
    }
}
