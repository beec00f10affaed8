package dev.backfill.admin;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Makes Jetty's own refusals problem documents; docs/operator-api.md shows this class. */
// region jetty-error-handler
final class ProblemErrorHandler extends ErrorHandler {

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        HttpFields.Mutable headers = response.getHeaders();
        headers.put(HttpHeader.CONTENT_TYPE, ProblemDocument.MEDIA_TYPE);
        headers.put(HttpHeader.CACHE_CONTROL, "no-store");
        headers.put("X-Content-Type-Options", "nosniff");
        response.write(true, ByteBuffer.wrap(ProblemDocument.forStatus(response.getStatus())), callback);
        return true;
    }
}
// endregion
