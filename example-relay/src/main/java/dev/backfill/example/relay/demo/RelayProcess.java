package dev.backfill.example.relay.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One relay in a process of its own: the same Java and the same class path. Confined to the demo's thread, except for the kill. */
final class RelayProcess {

    private final String name;
    private final Process process;

    private RelayProcess(String name, Process process) {
        this.name = name;
        this.process = process;
    }

    /** Starts one; its output goes to a file beside the others. */
    static RelayProcess start(String name, Path directory, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.add("-classpath");
        command.add(System.getProperty("java.class.path"));
        command.add("dev.backfill.example.relay.RelayMain");
        command.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile());
        builder.environment().keySet().removeIf(variable -> variable.startsWith("RELAY_"));
        return new RelayProcess(name, builder.start());
    }

    String name() {
        return name;
    }

    long pid() {
        return process.pid();
    }

    /** Whether a claim's owner is this process. */
    boolean isOwner(String claimOwner) {
        return claimOwner.matches(".*\\brelay-" + process.pid() + "\\b.*");
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL: nothing is released, nothing is rolled back by it, nothing is said. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGTERM, as an orchestrator sends it; the exit code. */
    int stop() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(12, TimeUnit.SECONDS)) {
            throw new DemoFailure(name + " did not stop within 12 s of SIGTERM.");
        }
        return process.exitValue();
    }
}
