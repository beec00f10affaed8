package dev.backfill.testkit.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who uses a shared server, by file locks, which the operating system frees with a process however it dies: every user holds a
 * shared lock for as long as it lives, and starting and stopping happen under an exclusive one of its own.
 */
final class ServerLease {

    private static final Logger LOG = LoggerFactory.getLogger(ServerLease.class);

    private final Path home;
    private @Nullable FileChannel users;
    private @Nullable FileLock use;

    ServerLease(Path home) {
        this.home = home;
    }

    /** What to do while nobody else can start or stop the server. */
    interface Join<T> {
        /**
         * Finds or starts it.
         *
         * @param alone whether no other process uses it
         */
        T run(boolean alone) throws IOException;
    }

    @SuppressWarnings("try") // the door is held, not used
    synchronized <T> T join(Join<T> join) throws IOException {
        try (FileChannel door = open("door.lock");
                FileLock held = door.lock()) {
            FileChannel channel = open("users.lock");
            FileLock only = channel.tryLock();
            if (only != null) {
                only.release();
            }
            T result = join.run(only != null);
            users = channel;
            use = channel.lock(0, Long.MAX_VALUE, true);
            return result;
        }
    }

    /** Leaves, and stops the server if nobody else uses it. */
    @SuppressWarnings("try") // the door is held, not used
    synchronized void leave(Runnable stop) {
        if (users == null || use == null) {
            return;
        }
        try (FileChannel door = open("door.lock");
                FileLock held = door.lock();
                FileChannel channel = users) {
            use.release();
            if (channel.tryLock() != null) {
                stop.run();
            }
        } catch (IOException e) {
            LOG.warn("The embedded PostgreSQL could not be left in order; the next run adopts it.", e);
        }
    }

    private FileChannel open(String name) throws IOException {
        return FileChannel.open(
                home.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ);
    }
}
