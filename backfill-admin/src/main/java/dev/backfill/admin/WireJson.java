package dev.backfill.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How single values look on the wire: 64-bit numbers as strings, times with microseconds in UTC, unknown as null (RM-2). */
final class WireJson {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private WireJson() {}

    static ObjectNode object() {
        return NODES.objectNode();
    }

    static JsonNode text(@Nullable String value) {
        return value == null ? NODES.nullNode() : NODES.textNode(value);
    }

    /** A number that JavaScript could not hold, as a string. */
    static JsonNode wide(@Nullable Long value) {
        return value == null ? NODES.nullNode() : NODES.textNode(Long.toString(value));
    }

    static JsonNode number(@Nullable Double value) {
        return value == null || !Double.isFinite(value) ? NODES.nullNode() : NODES.numberNode(value);
    }

    static JsonNode time(@Nullable Instant value) {
        return value == null ? NODES.nullNode() : NODES.textNode(MICROS.format(value));
    }

    /** ISO 8601, in whole seconds and never early. */
    static JsonNode duration(@Nullable Duration value) {
        return value == null
                ? NODES.nullNode()
                : NODES.textNode(Duration.ofSeconds(value.plusNanos(999_999_999).toSeconds())
                        .toString());
    }

    static JsonNode texts(@Nullable Collection<String> values) {
        return values == null ? NODES.nullNode() : array(values, WireJson::text);
    }

    static <T> ArrayNode array(Collection<T> values, Function<? super T, ? extends JsonNode> each) {
        ArrayNode array = NODES.arrayNode();
        values.forEach(value -> array.add(each.apply(value)));
        return array;
    }
}
