package dev.backfill.testkit.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one embedded server, held by one JVM at a time through a file lock, which the operating system frees with the
 * process however it dies. JVMs that run at the same time take different slots: an open transaction of one must not hold up another's
 * start barrier or concurrent index build, which look at the whole server. JVMs that run one after the other take the same.
 */
final class ServerSlot {

    private static final int MOST = 64;

    private final Path home;
    private final FileChannel channel;
    private final FileLock lock;

    private ServerSlot(Path home, FileChannel channel, FileLock lock) {
        this.home = home;
        this.channel = channel;
        this.lock = lock;
    }

    /** Takes the first free slot under a directory. */
    static ServerSlot take(Path parent) throws IOException {
        for (int i = 0; i < MOST; i++) {
            Path home = Files.createDirectories(parent.resolve(Integer.toString(i)));
            FileChannel channel = FileChannel.open(
                    home.resolve("slot.lock"),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.READ);
            FileLock lock = tryLock(channel);
            if (lock != null) {
                return new ServerSlot(home, channel, lock);
            }
            channel.close();
        }
        throw new IOException("All " + MOST + " slots for embedded servers under " + parent + " are taken.");
    }

    /** Null when it is held, by another JVM or by this one. */
    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    Path home() {
        return home;
    }

    /** Frees the slot for the next JVM. */
    void leave() throws IOException {
        lock.release();
        channel.close();
    }
}
