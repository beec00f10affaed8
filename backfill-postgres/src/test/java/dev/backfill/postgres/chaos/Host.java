package dev.backfill.postgres.chaos;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One host of the chaos run: a process at a time, and the signals it gets. */
final class Host {

    /** Which idle-in-transaction timeout a process has. */
    enum Profile {
        /** Above the lease: the server does not end a stale owner, so the fence has to. */
        PATIENT_SERVER(6_000),
        /** Below the lease, as the engine's own default: the server ends a stale owner's session first. */
        STRICT_SERVER(400);

        private final long idleMillis;

        Profile(long idleMillis) {
            this.idleMillis = idleMillis;
        }
    }

    private static final String WAVES = "waves";

    /** To register as many as a long run has would take longer than a process lives. */
    private static final int AHEAD = 40;

    private final String name;
    private final Profile profile;
    private final File log;
    private final List<String> command;
    private int launches;
    private Process process;

    Host(int number, Profile profile, String url, Path directory) throws IOException {
        this.name = "host-" + number;
        this.profile = profile;
        this.log = directory.resolve(name + ".log").toFile();
        this.command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx96m",
                "-cp",
                System.getProperty("java.class.path"),
                ChaosHost.class.getName(),
                url,
                name,
                WAVES,
                Long.toString(ChaosSuite.LEASE_MILLIS),
                Long.toString(profile.idleMillis),
                Long.toString(ProcessHandle.current().pid()));
        this.process = launch(1);
    }

    private Process launch(int wave) throws IOException {
        List<String> named = new ArrayList<>(command);
        // A name for each process: the owner of a claim is to be told from who was killed before.
        named.set(named.indexOf(name), "%s-%05d".formatted(name, ++launches));
        named.set(named.indexOf(WAVES), Integer.toString(wave + AHEAD));
        return new ProcessBuilder(named)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                .start();
    }

    /** Whether the owner of a claim is this process, the one that lives now. */
    boolean owns(String claimOwner) {
        return claimOwner.startsWith("%s-%05d".formatted(name, launches));
    }

    Profile profile() {
        return profile;
    }

    int launches() {
        return launches;
    }

    File log() {
        return log;
    }

    /** SIGKILL, and another process in its place, which knows the waves up to this one and some more. */
    void killAndReplace(int wave) throws IOException, InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        process = launch(wave);
    }

    /** SIGSTOP: whatever it has open stays open, and nothing of it goes on. */
    void freeze(Signals signals) throws IOException {
        signals.send(process.pid(), "STOP");
    }

    /** SIGCONT. */
    void thaw(Signals signals) throws IOException {
        signals.send(process.pid(), "CONT");
    }

    void end() throws InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }
}
