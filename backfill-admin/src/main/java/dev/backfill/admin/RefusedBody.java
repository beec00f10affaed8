package dev.backfill.admin;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;

/**
 * Reads what is left of a refused body after the answer was sent: a container that closes a connection with unread bytes resets it, and
 * the client never sees why it was refused. No thread waits for that, and it ends after two seconds or 256 KiB. Confined to one request.
 */
final class RefusedBody implements ReadListener, AsyncListener {

    private static final int MAX_BYTES = 256 * 1024;
    private static final long MAX_MILLIS = 2_000;

    private final AsyncContext context;
    private final ServletInputStream in;
    private final byte[] part = new byte[4 * 1024];
    private int read;

    private RefusedBody(AsyncContext context, ServletInputStream in) {
        this.context = context;
        this.in = in;
    }

    /** Begins to read, if there may be a body and the servlet is registered with support for asynchronous requests. */
    static void drain(HttpServletRequest request) throws IOException {
        boolean hasBody = request.getContentLengthLong() > 0 || request.getHeader("Transfer-Encoding") != null;
        // A client that waits to be told to continue has sent none, and must not be told to.
        if (!hasBody || request.getHeader("Expect") != null || !request.isAsyncSupported()) {
            return;
        }
        AsyncContext context = request.startAsync();
        RefusedBody body = new RefusedBody(context, request.getInputStream());
        context.setTimeout(MAX_MILLIS);
        context.addListener(body);
        body.in.setReadListener(body);
    }

    @Override
    public void onDataAvailable() throws IOException {
        while (in.isReady() && !in.isFinished()) {
            read += Math.max(0, in.read(part));
            if (read > MAX_BYTES) {
                context.complete();
                return;
            }
        }
    }

    @Override
    public void onAllDataRead() {
        context.complete();
    }

    @Override
    public void onError(Throwable e) {
        context.complete();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        context.complete();
    }

    @Override
    public void onError(AsyncEvent event) {
        context.complete();
    }

    @Override
    public void onComplete(AsyncEvent event) {}

    @Override
    public void onStartAsync(AsyncEvent event) {}
}
