package dev.backfill.example.relay.demo;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Shows the relay repairing its history while it is being killed, and proves what became of it. */
public final class DemoMain {

    private DemoMain() {}

    /** {@code -Drows=N} sets the size. Exit code 0 only if the proof holds. */
    public static void main(String[] args) throws IOException {
        // Here the log would tear the picture apart; the relays write theirs to files.
        System.setProperty("logback.configurationFile", "logback-demo.xml");
        Resources resources = new Resources();
        Path directory = Files.createTempDirectory("backfill-demo");
        // Also when the user has had enough: no process and no file stays behind.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            resources.close();
                            delete(directory);
                        },
                        "demo-cleanup"));
        System.exit(run(resources, directory) ? 0 : 1);
    }

    private static boolean run(Resources resources, Path directory) {
        try {
            int rows = Integer.parseInt(System.getProperty("rows", "200000"));
            return new Demo(rows, directory, resources, Display.onStandardOutput()).run();
        } catch (NumberFormatException e) {
            System.err.println("demo: -Drows must be a whole number");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            if (!resources.isClosed()) {
                System.err.println("demo: " + e.getMessage());
                printLogs(directory);
            }
        }
        return false;
    }

    private static void printLogs(Path directory) {
        for (String log : new String[] {"relay-1.log", "relay-2.log", "server.log"}) {
            try (Stream<String> lines = Files.lines(directory.resolve(log))) {
                System.err.println("---- the end of " + log);
                lines.skip(Math.max(0, count(directory.resolve(log)) - 30)).forEach(System.err::println);
            } catch (IOException e) {
                System.err.println("---- no " + log);
            }
        }
    }

    private static long count(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.count();
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            System.err.println("demo: " + directory + " could not be deleted");
        }
    }
}
