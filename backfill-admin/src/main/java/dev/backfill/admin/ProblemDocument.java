package dev.backfill.admin;

import java.nio.charset.StandardCharsets;

/**
 * Problem documents for errors that a container raises before the servlet sees the request: a bad URI, a header that is too large.
 * A host hands {@link #forStatus} to its container's error handler, so that a client meets one format; {@code
 * docs/operator-api.md} shows how.
 *
 * @since 0.1
 */
public final class ProblemDocument {

    /** The media type of the document. */
    public static final String MEDIA_TYPE = "application/problem+json";

    private ProblemDocument() {}

    /** The document for a status of 400 or above, as UTF-8; it says nothing about the request or the server. */
    public static byte[] forStatus(int status) {
        return Problem.ofStatus(status).json().toString().getBytes(StandardCharsets.UTF_8);
    }
}
