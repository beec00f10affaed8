package dev.backfill.example.relay.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What {@code postmaster.pid} says; it may be stale.
 *
 * @param pid the process that wrote it
 * @param port where it listens
 * @param ready whether it accepts connections
 */
record PostmasterFile(long pid, int port, boolean ready) {

    /** Reads the file of a data directory; empty when there is none, or one that is only half written. */
    static Optional<PostmasterFile> of(Path dataDirectory) throws IOException {
        try {
            List<String> lines = Files.readAllLines(dataDirectory.resolve("postmaster.pid"));
            if (lines.size() < 4) {
                return Optional.empty();
            }
            boolean ready = lines.size() >= 8 && lines.get(7).trim().equals("ready");
            return Optional.of(new PostmasterFile(
                    Long.parseLong(lines.get(0).trim()),
                    Integer.parseInt(lines.get(3).trim()),
                    ready));
        } catch (NoSuchFileException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    Optional<ProcessHandle> process() {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    }
}
