package dev.backfill.postgres.chaos;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One host process of the chaos run, and the signals it gets. */
final class Host {

    private final String name;
    private final List<String> command;
    private final File log;
    private Process process;

    Host(String name, String url, long leaseMillis, long idleMillis, Path directory) throws IOException {
        this.name = name;
        this.log = directory.resolve(name + ".log").toFile();
        this.command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Xmx96m",
                "-cp",
                System.getProperty("java.class.path"),
                ChaosHost.class.getName(),
                url,
                name,
                Long.toString(leaseMillis),
                Long.toString(idleMillis));
        this.process = launch();
    }

    private Process launch() throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                .start();
    }

    String name() {
        return name;
    }

    /** SIGKILL, and another process in its place. */
    void killAndReplace() throws IOException, InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        process = launch();
    }

    /** SIGSTOP or SIGCONT. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                .redirectErrorStream(true)
                .start()
                .waitFor(5, TimeUnit.SECONDS);
    }

    void end() throws InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }
}
