package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads the description of the API and judges answers by it: as much of JSON Schema as the document uses, and no more. */
public final class OpenApi {

    private final JsonNode document;

    /** Reads the document. */
    public OpenApi() {
        try (InputStream in = BackfillServlet.class.getResourceAsStream("openapi.json")) {
            document = new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    JsonNode document() {
        return document;
    }

    /** Fails unless the answer is one that the document promises for a path template and method. */
    public void judge(String template, String method, Client.Answer answer) {
        JsonNode operation = document.path("paths").path(template).path(method);
        JsonNode response = resolved(operation.path("responses").path(Integer.toString(answer.status())));
        assertThat(response.isMissingNode())
                .as(method + " " + template + " does not promise " + answer.status() + ": " + answer.text())
                .isFalse();
        JsonNode content = response.path("content").path(answer.header("Content-Type"));
        assertThat(content.isMissingNode())
                .as(template + " has no " + answer.header("Content-Type"))
                .isFalse();
        for (Map.Entry<String, JsonNode> header : response.path("headers").properties()) {
            assertThat(answer.header(header.getKey())).as(header.getKey()).isNotEmpty();
        }
        if (answer.status() >= 400) {
            assertThat(response.path("description").asText())
                    .as("the listed codes")
                    .contains("`" + answer.code() + "`");
        }
        List<String> errors = new ArrayList<>();
        check(content.path("schema"), answer.json(), "$", errors);
        assertThat(errors).as(template + " " + answer.text()).isEmpty();
    }

    private JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? document.at(node.path("$ref").asText().substring(1)) : node;
    }

    private void check(JsonNode unresolved, JsonNode value, String at, List<String> errors) {
        JsonNode schema = resolved(unresolved);
        if (schema.isMissingNode()) {
            errors.add(at + ": the document has no schema for it");
        }
        if (schema.has("anyOf")) {
            checkAny(schema.path("anyOf"), value, at, errors);
        }
        if (schema.has("type") && !hasType(schema.path("type"), value)) {
            errors.add(at + ": " + value + " is no " + schema.path("type"));
            return;
        }
        if (schema.has("enum") && !contains(schema.path("enum"), value)) {
            errors.add(at + ": " + value + " is none of " + schema.path("enum"));
        }
        if (schema.has("pattern")
                && value.isTextual()
                && !value.asText().matches(schema.path("pattern").asText())) {
            errors.add(at + ": " + value + " does not match " + schema.path("pattern"));
        }
        if (value.isArray() && schema.has("type")) {
            for (int i = 0; i < value.size(); i++) {
                check(schema.path("items"), value.get(i), at + "[" + i + "]", errors);
            }
        }
        if (value.isObject() && schema.has("type")) {
            checkMembers(schema, value, at, errors);
        }
    }

    private void checkAny(JsonNode options, JsonNode value, String at, List<String> errors) {
        List<String> all = new ArrayList<>();
        for (JsonNode option : options) {
            List<String> found = new ArrayList<>();
            check(option, value, at, found);
            if (found.isEmpty()) {
                return;
            }
            all.addAll(found);
        }
        errors.addAll(all);
    }

    private void checkMembers(JsonNode schema, JsonNode value, String at, List<String> errors) {
        for (JsonNode name : schema.path("required")) {
            if (!value.has(name.asText())) {
                errors.add(at + ": '" + name.asText() + "' is absent");
            }
        }
        JsonNode others = schema.path("additionalProperties");
        for (Map.Entry<String, JsonNode> member : value.properties()) {
            JsonNode known = schema.path("properties").path(member.getKey());
            if (known.isMissingNode() && others.isBoolean()) {
                errors.add(at + ": '" + member.getKey() + "' is not in the document");
            } else {
                check(known.isMissingNode() ? others : known, member.getValue(), at + "." + member.getKey(), errors);
            }
        }
    }

    private static boolean hasType(JsonNode type, JsonNode value) {
        if (type.isArray()) {
            for (JsonNode one : type) {
                if (hasType(one, value)) {
                    return true;
                }
            }
            return false;
        }
        return switch (type.asText()) {
            case "string" -> value.isTextual();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "boolean" -> value.isBoolean();
            case "null" -> value.isNull();
            case "array" -> value.isArray();
            case "object" -> value.isObject();
            default -> throw new AssertionError("unknown type " + type);
        };
    }

    private static boolean contains(JsonNode options, JsonNode value) {
        for (JsonNode option : options) {
            if (option.equals(value)) {
                return true;
            }
        }
        return false;
    }
}
