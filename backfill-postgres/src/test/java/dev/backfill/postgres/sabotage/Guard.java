package dev.backfill.postgres.sabotage;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A guard, the edit that removes it, and the test that must then fail.
 *
 * @param name what is guarded
 * @param file the simple name of the class that holds it
 * @param find the text that is the guard
 * @param replace what stands there without it, at every place
 * @param test the class, under {@code dev.backfill.postgres.conformance} unless it names another package, and its method
 */
record Guard(String name, String file, String find, String replace, String test) {

    private static final List<Path> SOURCES =
            List.of(Path.of("src", "main", "java"), Path.of("..", "backfill-core", "src", "main", "java"));

    /** Every guard on the list. */
    static List<Guard> all() {
        try (InputStream in = Objects.requireNonNull(Guard.class.getResourceAsStream("guards.txt"), "guards.txt")) {
            List<Guard> guards = new ArrayList<>();
            for (String block : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n\n", -1)) {
                if (block.contains("guard: ")) {
                    guards.add(read(block));
                }
            }
            return List.copyOf(guards);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Guard read(String block) {
        Map<String, String> fields = new HashMap<>();
        for (String line : block.split("\n", -1)) {
            int colon = line.indexOf(':');
            if (!line.startsWith("#") && colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        }
        return new Guard(
                text(fields, "guard"),
                text(fields, "file"),
                code(fields, "find"),
                code(fields, "replace"),
                text(fields, "test"));
    }

    private static String text(Map<String, String> fields, String name) {
        return Objects.requireNonNull(fields.get(name), () -> "a guard without '" + name + "': " + fields);
    }

    private static String code(Map<String, String> fields, String name) {
        return text(fields, name).replace("\\n", "\n").replace("\\\\", "\\");
    }

    /** The one source file of that class, wherever its package is, in this module or the core. */
    Path source() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path sources : SOURCES) {
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(path -> path.endsWith(file + ".java")).forEach(found::add);
            }
        }
        if (found.size() != 1) {
            throw new IOException("guard '" + name + "' names " + file + ", of which there are " + found.size());
        }
        return found.get(0);
    }

    String testClass() {
        String type = test.substring(0, test.indexOf('.'));
        return "dev.backfill.postgres." + (type.contains("/") ? type.replace('/', '.') : "conformance." + type);
    }

    String testMethod() {
        return test.substring(test.indexOf('.') + 1);
    }

    @Override
    public String toString() {
        return name;
    }
}
