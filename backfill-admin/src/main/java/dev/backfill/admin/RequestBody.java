package dev.backfill.admin;

import jakarta.servlet.http.HttpServletRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request whose sender is known: whole, in time, or not at all. Nothing is executed of a request that did not
 * arrive whole. Thread-safe.
 */
final class RequestBody {

    /** The most bytes of a body. */
    static final int MAX = 16 * 1024;

    /** How long a body may take to arrive. A single read may take as long as the container's idle timeout. */
    static final Duration DEADLINE = Duration.ofSeconds(5);

    private static final Pattern JSON_TYPE =
            Pattern.compile("application/json(\\s*;\\s*charset\\s*=\\s*\"?utf-8\"?)?\\s*", Pattern.CASE_INSENSITIVE);

    private final @Nullable Predicate<HttpServletRequest> arrivedWhole;
    private final LongSupplier nanos;

    /**
     * With a clock of nanoseconds.
     *
     * @param arrivedWhole asked once a chunked body was read to its end; null where the host can't tell, so that such a body is refused
     */
    RequestBody(@Nullable Predicate<HttpServletRequest> arrivedWhole, LongSupplier nanos) {
        this.arrivedWhole = arrivedWhole;
        this.nanos = nanos;
    }

    /** The body, once its type, size and end are right; empty if there is none. */
    byte[] of(HttpServletRequest request) throws IOException {
        boolean chunked = request.getHeader("Transfer-Encoding") != null;
        String type = request.getContentType();
        if ((chunked || request.getContentLengthLong() > 0)
                && (type == null || !JSON_TYPE.matcher(type).matches())) {
            throw Problem.ofStatus(415);
        }
        if (request.getContentLengthLong() > MAX) {
            throw tooLarge();
        }
        if (chunked && arrivedWhole == null) {
            throw Problem.ofStatus(411);
        }
        byte[] body = read(request.getInputStream());
        // Some containers forgive a last chunk without its end: the client may have been cut off while it was writing.
        if (body.length < request.getContentLengthLong()
                || (chunked && arrivedWhole != null && !arrivedWhole.test(request))) {
            throw ControlBody.malformed("The request ended before all of it had arrived.");
        }
        return body;
    }

    private byte[] read(InputStream in) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] part = new byte[4 * 1024];
        long begun = nanos.getAsLong();
        try {
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                body.write(part, 0, n);
                if (body.size() > MAX) {
                    throw tooLarge();
                }
                if (isLate(begun)) {
                    throw Problem.ofStatus(408);
                }
            }
            return body.toByteArray();
        } catch (IOException e) {
            if (isLate(begun) || isTimeout(e)) {
                throw Problem.ofStatus(408);
            }
            throw ControlBody.malformed("The body ended early or could not be read.");
        }
    }

    private boolean isLate(long begun) {
        return nanos.getAsLong() - begun > DEADLINE.toNanos();
    }

    private static boolean isTimeout(Throwable e) {
        return e instanceof TimeoutException
                || e instanceof SocketTimeoutException
                || (e.getCause() != null && isTimeout(e.getCause()));
    }

    private static Problem tooLarge() {
        return new Problem(413, "body_too_large", "The body must have at most " + MAX + " bytes.");
    }
}
