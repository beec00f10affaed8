package dev.backfill.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.backfill.BackfillId;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.Pacing;
import dev.backfill.operate.Authority;
import dev.backfill.operate.OperatorRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pace as it is put: all limits at once, a missing one unlimited.
 *
 * @param requestId the request ID
 * @param note why; null for none
 * @param pacing the limits; null for the definition's own
 * @param generation on which it was decided, or null
 */
record PaceBody(
        String requestId,
        @Nullable String note,
        @Nullable Pacing pacing,
        @Nullable Long generation) {

    private static final Set<String> LIMITS =
            Set.of("pause_ratio", "rows_per_second", "wal_bytes_per_second", "target_batch_ms");
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    static PaceBody of(HttpServletRequest request, byte[] bytes) {
        JsonNode body = tree(ControlBody.utf8(bytes));
        String key = ControlBody.key(request);
        boolean own = false;
        boolean limited = false;
        String note = null;
        for (Map.Entry<String, JsonNode> member : body.properties()) {
            switch (member.getKey()) {
                case "note" -> note = note(member.getValue());
                case "reset" -> own = reset(member.getValue());
                default -> limited |= limit(member.getKey());
            }
        }
        if (own == limited) {
            throw ControlBody.malformed("The body must hold either at least one of " + String.join(", ", sorted())
                    + ", where null and a missing one mean no limit, or 'reset': true for the definition's own pace.");
        }
        return new PaceBody(key, note, own ? null : pacing(body), ControlBody.generation(request));
    }

    /** The request, once it is known who asks of which backfill. */
    OperatorRequest by(Authority authority, BackfillId id) {
        return new OperatorRequest(id, requestId, authority, note).decidedOn(generation);
    }

    private static Iterable<String> sorted() {
        return LIMITS.stream().sorted().toList();
    }

    private static JsonNode tree(String text) {
        try {
            JsonNode body = JSON.readTree(text);
            if (body == null || !body.isObject()) {
                throw ControlBody.malformed("The body must be an object.");
            }
            return body;
        } catch (JsonProcessingException e) {
            throw ControlBody.malformed("The body is not well-formed JSON.");
        }
    }

    private static @Nullable String note(JsonNode value) {
        if (!value.isTextual() && !value.isNull()) {
            throw ControlBody.malformed("The note must be a string.");
        }
        if (value.asText().length() > OperatorRequest.MAX_NOTE) {
            throw ControlBody.malformed("The note must have at most " + OperatorRequest.MAX_NOTE + " characters.");
        }
        return value.isNull() || value.asText().isBlank() ? null : value.asText();
    }

    private static boolean reset(JsonNode value) {
        if (!value.isBoolean()) {
            throw ControlBody.malformed("'reset' must be true or false.");
        }
        return value.asBoolean();
    }

    private static boolean limit(String name) {
        if (!LIMITS.contains(name)) {
            throw ControlBody.malformed("The body holds something that is no part of a pace.");
        }
        return true;
    }

    private static Pacing pacing(JsonNode body) {
        JsonNode ratio = body.path("pause_ratio");
        if (!ratio.isNumber() && !ratio.isNull() && !ratio.isMissingNode()) {
            throw ControlBody.malformed("'pause_ratio' must be a number or null.");
        }
        Long rows = whole(body, "rows_per_second");
        Long wal = whole(body, "wal_bytes_per_second");
        Long target = whole(body, "target_batch_ms");
        try {
            Pacing pacing = Pacing.unlimited();
            pacing = ratio.isNumber() ? pacing.pauseRatio(ratio.asDouble()) : pacing;
            pacing = rows == null ? pacing : pacing.rowsPerSecond(rows);
            pacing = wal == null ? pacing : pacing.walBytesPerSecond(wal);
            return target == null ? pacing : pacing.targetBatchTime(Duration.ofMillis(target));
        } catch (InvalidDefinitionException e) {
            throw ControlBody.malformed(String.valueOf(e.getMessage()));
        }
    }

    /** A whole number, or its digits as a string, because 64 bits don't survive every JSON reader. */
    private static @Nullable Long whole(JsonNode body, String name) {
        JsonNode value = body.path(name);
        if (value.isNull() || value.isMissingNode()) {
            return null;
        }
        boolean digits = value.isTextual() && value.asText().matches("[0-9]{1,18}");
        if (!digits && !(value.isIntegralNumber() && value.canConvertToLong())) {
            throw ControlBody.malformed("'" + name + "' must be a whole number or null.");
        }
        return digits ? Long.valueOf(value.asText()) : Long.valueOf(value.asLong());
    }
}
