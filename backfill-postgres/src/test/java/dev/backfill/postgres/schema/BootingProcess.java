package dev.backfill.postgres.schema;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A {@link BootingMain} in a JVM of its own, as a test sees it. Confined to one thread. */
final class BootingProcess implements AutoCloseable {

    /** What its answers begin with; the rest of its output is its log. */
    static final String MARK = "> ";

    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;
    private final StringBuilder log = new StringBuilder();

    private BootingProcess(Process process) {
        this.process = process;
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts one; it is ready when it has answered. */
    static BootingProcess start(String url) throws IOException {
        return new BootingProcess(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BootingMain.class.getName(),
                        url)
                .redirectErrorStream(true)
                .start());
    }

    /** Lets it begin, without waiting for what it answers. */
    void tell(String command) {
        commands.println(command);
    }

    /** The next answer. */
    String answer() throws IOException {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.startsWith(MARK)) {
                return line.substring(MARK.length());
            }
            log.append(line).append('\n');
        }
        throw new AssertionError("Process " + process.pid() + " ended without an answer:\n" + log);
    }

    /** Both. */
    String ask(String command) throws IOException {
        tell(command);
        return answer();
    }

    /** What it logged before its last answer. */
    String log() {
        return log.toString();
    }

    /** SIGKILL, and gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            throw new AssertionError("Process " + process.pid() + " outlived SIGKILL.");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
