package dev.backfill.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.backfill.BackfillId;
import dev.backfill.operate.Authority;
import dev.backfill.operate.OperatorRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a control carries besides its path, checked in the order that the API promises: body, key.
 *
 * @param requestId the request ID
 * @param note why, or null
 * @param generation on which it was decided, or null
 */
record ControlBody(
        String requestId, @Nullable String note, @Nullable Long generation) {

    static final String KEY_HEADER = "Idempotency-Key";

    private static final Pattern GENERATION = Pattern.compile("\"[0-9]{1,18}\"");

    /** Duplicate names are refused: two readers could otherwise see two notes. */
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    static ControlBody of(HttpServletRequest request, byte[] body) {
        String note = note(body);
        return new ControlBody(key(request), note, generation(request));
    }

    private static @Nullable String note(byte[] body) {
        if (body.length == 0) {
            return null;
        }
        // Decoded first: the parser would accept some byte sequences that are not UTF-8.
        try (JsonParser parser = JSON.createParser(utf8(body))) {
            return note(parser);
        } catch (IOException e) {
            throw malformed("The body is not well-formed JSON.");
        }
    }

    private static @Nullable String note(JsonParser parser) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw malformed("The body must be an object.");
        }
        String note = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            if (!parser.currentName().equals("note")) {
                throw malformed("The body may hold 'note' and nothing else.");
            }
            JsonToken value = parser.nextToken();
            if (value != JsonToken.VALUE_STRING && value != JsonToken.VALUE_NULL) {
                throw malformed("The note must be a string.");
            }
            note = value == JsonToken.VALUE_NULL ? null : parser.getText();
        }
        if (parser.nextToken() != null) {
            throw malformed("Something follows the object.");
        }
        if (note != null && note.length() > OperatorRequest.MAX_NOTE) {
            throw malformed("The note must have at most " + OperatorRequest.MAX_NOTE + " characters.");
        }
        return note == null || note.isBlank() ? null : note;
    }

    static String utf8(byte[] body) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed("The body is not UTF-8.");
        }
    }

    static String key(HttpServletRequest request) {
        List<String> keys = Collections.list(request.getHeaders(KEY_HEADER));
        if (keys.isEmpty()) {
            throw Problem.badRequest(
                    "missing_idempotency_key",
                    "The header " + KEY_HEADER + " is required: a request ID of your choice.");
        }
        if (keys.size() > 1) {
            throw Problem.badRequest(
                    "repeated_idempotency_key", "The header " + KEY_HEADER + " is given more than once.");
        }
        if (!OperatorRequest.isValidRequestId(keys.get(0))) {
            throw Problem.badRequest(
                    "malformed_idempotency_key",
                    "The header " + KEY_HEADER + " must be 1 to 128 characters of 0x21 to 0x7E.");
        }
        return keys.get(0);
    }

    /** The request, once it is known who asks of which backfill. */
    OperatorRequest by(Authority authority, BackfillId id) {
        return new OperatorRequest(id, requestId, authority, note).decidedOn(generation);
    }

    /** The generation of {@code If-Match}; null if there is none, or for any. */
    static @Nullable Long generation(HttpServletRequest request) {
        List<String> given = Collections.list(request.getHeaders("If-Match"));
        if (given.isEmpty() || given.equals(List.of("*"))) {
            return null;
        }
        if (given.size() > 1 || !GENERATION.matcher(given.get(0)).matches()) {
            throw Problem.badRequest(
                    "malformed_if_match", "The header If-Match must be one generation in quotes, such as \"3\", or *.");
        }
        return Long.valueOf(given.get(0).replace("\"", ""));
    }

    static Problem malformed(String detail) {
        return Problem.badRequest("malformed_body", detail);
    }
}
