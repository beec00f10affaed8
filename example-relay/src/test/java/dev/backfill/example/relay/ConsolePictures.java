package dev.backfill.example.relay;

import java.nio.file.Path;
import java.util.List;

/** The pictures of the console in the documents. The browser test takes each of them; the documents show no other. */
public final class ConsolePictures {

    /** Their files. */
    public static final List<String> ALL = List.of(
            "console-running-light.png",
            "console-list-light.png",
            "console-blocked-light.png",
            "console-running-dark.png",
            "console-list-dark.png",
            "console-blocked-dark.png",
            "console-confirm-dark.png",
            "console-phone-dark.png");

    private ConsolePictures() {}

    /** Where one of them is put: {@code -Dconsole.pictures=docs/images} replaces those of the documents. */
    static Path file(String name) {
        if (!ALL.contains(name)) {
            throw new IllegalArgumentException(name + " is not on the list, so that no document may show it");
        }
        String wanted = System.getProperty("console.pictures");
        return (wanted == null ? Path.of("target", "console") : Path.of("..").resolve(wanted)).resolve(name);
    }
}
