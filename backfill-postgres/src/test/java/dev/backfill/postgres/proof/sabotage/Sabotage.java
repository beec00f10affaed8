package dev.backfill.postgres.proof.sabotage;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * One guard of the engine, how to take it away, and the test that must then turn red. The sources themselves are never touched: the
 * package is copied, edited, compiled apart and put in front of the class path of a process that runs just that test.
 *
 * @param number its line in the list
 * @param file the source file, below the engine's internal packages
 * @param text the guard, which the file holds exactly once
 * @param replacement what stands there instead
 * @param killer the test, as {@code Class#method} of the package of these proofs
 */
record Sabotage(int number, String file, String text, String replacement, String killer) {

    private static final Path SOURCES = Path.of("src/main/java/dev/backfill/postgres/internal");
    private static final Path LIST = Path.of("src/test/resources/sabotage.tsv");
    private static final String PROOFS = "dev.backfill.postgres.proof.";
    private static final long LIMIT_SECONDS = 180;

    /** Every line of the list. */
    static List<Sabotage> all() {
        List<Sabotage> all = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(LIST)) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    all.add(parse(all.size() + 1, line));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }

    private static Sabotage parse(int number, String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length != 4) {
            throw new IllegalStateException("Line " + number + " has " + fields.length + " fields, expected 4: " + line);
        }
        return new Sabotage(number, fields[0], unescape(fields[1]), unescape(fields[2]), fields[3]);
    }

    private static String unescape(String field) {
        return field.replace("\\n", "\n");
    }

    /** The file without its guard. */
    String edited() throws IOException {
        String source = Files.readString(SOURCES.resolve(file));
        int first = source.indexOf(text);
        if (first < 0 || source.indexOf(text, first + 1) >= 0) {
            throw new IllegalStateException(this + ": the file must hold the text exactly once. After a change of the source,"
                    + " correct the list.");
        }
        return source.substring(0, first) + replacement + source.substring(first + text.length());
    }

    /** What came of it: 1 for a red test, which is what is wanted, 0 for a green one, 2 when nothing ran. */
    int run(Path work) throws IOException, InterruptedException {
        Path classes = compile(work);
        Path log = work.resolve("log.txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "-Dpostgres.major=" + System.getProperty("postgres.major", ""),
                        "-cp",
                        classes + File.pathSeparator + classPath(),
                        TestRun.class.getName(),
                        PROOFS + killer)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                // A test that hangs without its guard has noticed, too.
                return 1;
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /** Compiles the whole package, because constants are copied into the classes that use them. */
    private Path compile(Path work) throws IOException {
        Path sources = Files.createDirectories(work.resolve("src"));
        Path edited = SOURCES.resolve(file);
        List<String> arguments = new ArrayList<>(List.of(
                "-nowarn", "-proc:none", "-implicit:none", "-d", Files.createDirectories(work.resolve("classes")).toString(), "-cp", classPath()));
        try (Stream<Path> siblings = Files.list(Objects.requireNonNull(edited.getParent()))) {
            for (Path sibling : siblings.filter(s -> s.toString().endsWith(".java")).toList()) {
                Path copy = sources.resolve(Objects.requireNonNull(sibling.getFileName()));
                Files.writeString(copy, sibling.equals(edited) ? edited() : Files.readString(sibling));
                arguments.add(copy.toString());
            }
        }
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "a JDK is needed");
        if (compiler.run(null, null, null, arguments.toArray(String[]::new)) != 0) {
            throw new IllegalStateException(this + ": it does not compile.");
        }
        return work.resolve("classes");
    }

    private static String classPath() {
        String forked = System.getProperty("surefire.test.class.path");
        return forked == null ? System.getProperty("java.class.path") : forked;
    }

    @Override
    public String toString() {
        return "sabotage " + number + " of " + file + " (" + text.strip().lines().findFirst().orElse("") + ")";
    }
}
