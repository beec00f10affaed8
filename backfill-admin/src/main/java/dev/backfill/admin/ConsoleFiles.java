package dev.backfill.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.operate.DiagnosticCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is served without a credential because it holds no data: the console's files and the description of the API. A closed list,
 * read once, so that no path of a request ever reaches the class path.
 */
final class ConsoleFiles {

    private static final List<String> NAMES = List.of(
            "index.html",
            "console.css",
            "icon.svg",
            "app.js",
            "api.js",
            "chart.js",
            "controls.js",
            "detail.js",
            "dialog.js",
            "dom.js",
            "format.js",
            "history.js",
            "list.js",
            "outcome.js",
            "settings.js",
            "words.js");

    private final Map<String, StaticFile> byPath = new HashMap<>();

    ConsoleFiles() {
        for (String name : NAMES) {
            byPath.put("/console/" + name, new StaticFile(typeOf(name), resource("console/" + name)));
        }
        byPath.put("/console/", new StaticFile(typeOf("index.html"), resource("console/index.html")));
        byPath.put("/console/diagnostics.json", new StaticFile("application/json", diagnostics()));
        byPath.put("/openapi.json", new StaticFile("application/json", resource("openapi.json")));
    }

    /** Whether a path belongs here, existing or not. */
    static boolean covers(String path) {
        return path.equals("/openapi.json") || path.equals("/console") || path.startsWith("/console/");
    }

    Optional<StaticFile> find(String path) {
        return Optional.ofNullable(byPath.get(path));
    }

    /** The remedies are the enum's own words, so the console can't fall behind it. */
    private static byte[] diagnostics() {
        ObjectNode json = WireJson.object();
        for (DiagnosticCode code : DiagnosticCode.values()) {
            json.putObject(code.wireName()).put("meaning", code.meaning()).put("remedy", code.remedy());
        }
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] resource(String name) {
        try (InputStream in = ConsoleFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("The resource " + name + " is missing beside "
                        + ConsoleFiles.class.getName() + "; the jar is incomplete.");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String typeOf(String name) {
        return switch (name.substring(name.lastIndexOf('.'))) {
            case ".html" -> "text/html;charset=utf-8";
            case ".css" -> "text/css;charset=utf-8";
            case ".svg" -> "image/svg+xml";
            default -> "text/javascript;charset=utf-8";
        };
    }

    /**
     * One file.
     *
     * @param type its media type
     * @param bytes its content
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record StaticFile(String type, byte[] bytes) {}
}
