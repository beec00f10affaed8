package dev.backfill.reactor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds files of the repository from wherever the build runs. */
final class Repository {

    static final Path ROOT = root();

    private Repository() {}

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve(".mvn"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException("No directory above this one holds .mvn.");
            }
        }
        return directory;
    }

    /** Every document for people: at the root, under docs, and each module's README. */
    static List<Path> documents() {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> modules = Files.list(ROOT).map(module -> module.resolve("README.md"))) {
            return Stream.of(root, docs, modules)
                    .flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md") && Files.isRegularFile(file))
                    .distinct()
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
