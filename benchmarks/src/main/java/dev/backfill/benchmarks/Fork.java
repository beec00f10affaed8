package dev.backfill.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM with this class path, which speaks in lines and ends when its input does. */
final class Fork implements AutoCloseable {

    private final Process process;
    private final BufferedReader lines;

    private Fork(Process process) {
        this.process = process;
        this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts a main class. */
    static Fork of(Class<?> main, List<String> jvmOptions, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-classpath", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new Fork(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** The rest of the next line that begins with a word; what stands before it is skipped. */
    String await(String word) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(word)) {
                return line.substring(word.length()).strip();
            }
        }
        throw new IllegalStateException("A forked JVM ended before it said '" + word + "'.");
    }

    /** SIGKILL; returns when it is dead. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** CPU seconds so far; NaN if unknown. */
    double cpuSeconds() {
        return process.info()
                .totalCpuDuration()
                .map(duration -> duration.toNanos() / 1e9)
                .orElse(Double.NaN);
    }

    /** Blocks the forked program until whoever started it closes its input or dies. */
    static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Nobody says anything.
        }
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
