package dev.backfill.postgres.sabotage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Removes the guards one at a time, each in a copy of its class that is put before the real one, and demands that its own test fails.
 * Run with {@code mvn -Psabotage verify}; {@code -Dsabotage.sample=n} takes n of them, others each day or by {@code -Dsabotage.seed}, and
 * {@code -Dsabotage.only=text} those whose name holds a text.
 */
@PostgresTest
class SabotageSuite {

    private static final int LIMIT_SECONDS = 180;

    static Stream<Guard> guards() {
        List<Guard> all = new java.util.ArrayList<>(Guard.all());
        String only = System.getProperty("sabotage.only", "");
        all.removeIf(guard -> !guard.name().contains(only));
        int sample = Integer.getInteger("sabotage.sample", all.size());
        if (sample < all.size()) {
            long seed =
                    Long.getLong("sabotage.seed", LocalDate.now(ZoneOffset.UTC).toEpochDay());
            System.out.println("sabotage: " + sample + " of " + all.size() + " guards, seed=" + seed);
            Collections.shuffle(all, new Random(seed));
        }
        return all.stream().limit(sample);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("guards")
    void without_its_guard_a_test_fails(Guard guard, TestDatabase server, @TempDir Path directory) throws Exception {
        String source = Files.readString(guard.source());
        assertThat(source).as("the guard is where the list says").contains(guard.find());
        compile(guard, source.replace(guard.find(), guard.replace()), directory);
        String report = run(guard, server, directory);
        assertThat(report).as("%s ran", guard.test()).contains("passed=");
        assertThat(report)
                .as("without the guard '%s' the test %s must fail", guard.name(), guard.test())
                .doesNotContain("failed=0");
    }

    private static void compile(Guard guard, String sabotaged, Path directory) throws IOException {
        Path file = directory.resolve("src").resolve(guard.file() + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, sabotaged);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> complaints = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(complaints, null, null)) {
            boolean compiled = compiler.getTask(
                            null,
                            files,
                            complaints,
                            List.of(
                                    "-proc:none",
                                    "-d",
                                    classes(directory).toString(),
                                    "-cp",
                                    System.getProperty("java.class.path")),
                            null,
                            files.getJavaFileObjects(file))
                    .call();
            assertThat(compiled).as("compiled: %s", complaints.getDiagnostics()).isTrue();
        }
    }

    private static Path classes(Path directory) throws IOException {
        return Files.createDirectories(directory.resolve("classes"));
    }

    private static String run(Guard guard, TestDatabase server, Path directory) throws Exception {
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dpostgres.major=" + System.getProperty("postgres.major", ""),
                "-cp",
                classes(directory) + File.pathSeparator + System.getProperty("java.class.path"),
                RunTests.class.getName(),
                guard.testClass(),
                guard.testMethod());
        // On this process's server, which is up already.
        builder.environment().put("BACKFILL_TEST_JDBC_URL", server.jdbcUrl());
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            return "passed=0 failed=1 because it did not end within " + LIMIT_SECONDS + " s";
        }
        return Files.readString(output);
    }
}
