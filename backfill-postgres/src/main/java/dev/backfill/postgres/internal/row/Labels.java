package dev.backfill.postgres.internal.row;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.backfill.BackfillException;
import java.util.Map;
import java.util.TreeMap;

/** Labels as they are stored. */
public final class Labels {

    private static final JsonMapper JSON = new JsonMapper();

    private Labels() {}

    static String toJson(Map<String, String> labels) {
        try {
            return JSON.writeValueAsString(new TreeMap<>(labels));
        } catch (JsonProcessingException e) {
            throw new BackfillException("Labels could not be written as JSON.", e);
        }
    }

    /** Reads labels; none where they are not readable. */
    public static Map<String, String> fromJson(String json) {
        try {
            return JSON.readValue(json, new TypeReference<TreeMap<String, String>>() {});
        } catch (JsonProcessingException e) {
            // Written by something else than this library: no label is better than no list.
            return Map.of();
        }
    }
}
