package dev.backfill.benchmarks.lab;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * CPU time of a PostgreSQL server from {@code /proc}: the postmaster with the children it has reaped, and those that live. Ticks are
 * hundredths of a second, as Linux shows them to user space.
 */
final class ServerCpu {

    private static final Path PROC = Path.of("/proc");
    private static final double TICKS = 100;
    private static final int PARENT = 1;
    private static final int USER = 11;
    private static final int LAST = 14;

    private ServerCpu() {}

    static double seconds(Path dataDirectory) {
        try {
            String first =
                    Files.readAllLines(dataDirectory.resolve("postmaster.pid")).get(0);
            String postmaster = first.strip();
            long ticks = ticks(fields(postmaster));
            try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
                for (Path process : processes) {
                    String[] fields = fields(process.getFileName().toString());
                    if (fields.length > LAST && fields[PARENT].equals(postmaster)) {
                        ticks += ticks(fields);
                    }
                }
            }
            return ticks / TICKS;
        } catch (IOException | RuntimeException e) {
            return Double.NaN;
        }
    }

    /** What follows the command, which may hold blanks and parentheses; none for a process that has just ended. */
    private static String[] fields(String pid) {
        try {
            String stat = Files.readString(PROC.resolve(pid).resolve("stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        } catch (IOException e) {
            return new String[0];
        }
    }

    private static long ticks(String[] fields) {
        long sum = 0;
        for (int i = USER; i <= LAST; i++) {
            sum += Long.parseLong(fields[i]);
        }
        return sum;
    }
}
