package dev.backfill.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.internal.BoundedText;
import java.util.LinkedHashMap;
import java.util.Map;

/** An error answer on its way out (RFC 9457). Its code is stable; its detail is for people. */
final class Problem extends RuntimeException {

    private static final long serialVersionUID = 1L;
    private static final int MAX_DETAIL = 1_000;

    private final int status;
    private final String code;
    private final transient Map<String, String> headers = new LinkedHashMap<>();
    private final transient Map<String, JsonNode> members = new LinkedHashMap<>();

    Problem(int status, String code, String detail) {
        // No stack trace: this is an answer, and a flood of bad requests must stay cheap.
        super(BoundedText.clean(detail, MAX_DETAIL), null, false, false);
        this.status = status;
        this.code = code;
    }

    /** What a container says when it refuses a request by itself. */
    static Problem ofStatus(int status) {
        return switch (status) {
            case 401 -> unauthenticated();
            case 403 -> forbidden();
            case 404 -> notFound();
            case 405 -> new Problem(405, "method_not_allowed", "This path does not answer to that method.");
            case 408 -> new Problem(408, "request_timeout", "The request did not arrive in time. Nothing was done.");
            case 411 ->
                new Problem(
                        411,
                        "length_required",
                        "This server can't tell whether a chunked body arrived whole; send its Content-Length.");
            case 413 -> new Problem(413, "body_too_large", "The body is larger than this server accepts.");
            case 414 -> new Problem(414, "uri_too_long", "The URI is longer than this server accepts.");
            case 415 -> new Problem(415, "unsupported_media_type", "A body must be application/json.");
            case 431 -> new Problem(431, "headers_too_large", "The headers are larger than this server accepts.");
            case 505 ->
                new Problem(505, "http_version_not_supported", "This server does not speak that version of HTTP.");
            case 503 -> new Problem(503, "unavailable", "The server can't answer now.").with("Retry-After", "5");
            default ->
                status >= 500
                        ? new Problem(status, "internal_error", "The server failed; its log says why.")
                        : new Problem(status, "bad_request", "The server could not read the request.");
        };
    }

    static Problem badRequest(String code, String detail) {
        return new Problem(400, code, detail);
    }

    static Problem unauthenticated() {
        return new Problem(401, "unauthenticated", "A valid credential is needed.")
                .with("WWW-Authenticate", "Bearer realm=\"backfill\"");
    }

    static Problem forbidden() {
        return new Problem(403, "forbidden", "The credential does not carry the capability that this request needs.");
    }

    static Problem notFound() {
        return new Problem(404, "not_found", "There is nothing at this path.");
    }

    static Problem unknownId() {
        return new Problem(
                404,
                "unknown_id",
                "There is no backfill of that ID; or, for a preflight, this process has no definition of it.");
    }

    Problem with(String header, String value) {
        headers.put(header, value);
        return this;
    }

    Problem and(String member, JsonNode value) {
        members.put(member, value);
        return this;
    }

    int status() {
        return status;
    }

    String code() {
        return code;
    }

    Map<String, String> headers() {
        return headers;
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", "urn:backfill:problem:" + code);
        json.put("title", titleOf(status));
        json.put("status", status);
        json.put("code", code);
        json.put("detail", getMessage());
        members.forEach(json::set);
        return json;
    }

    private static String titleOf(int status) {
        return switch (status) {
            case 400 -> "Bad Request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 408 -> "Request Timeout";
            case 409 -> "Conflict";
            case 411 -> "Length Required";
            case 413 -> "Content Too Large";
            case 414 -> "URI Too Long";
            case 415 -> "Unsupported Media Type";
            case 431 -> "Request Header Fields Too Large";
            case 500 -> "Internal Server Error";
            case 503 -> "Service Unavailable";
            case 505 -> "HTTP Version Not Supported";
            default -> status >= 500 ? "Server Error" : "Client Error";
        };
    }
}
