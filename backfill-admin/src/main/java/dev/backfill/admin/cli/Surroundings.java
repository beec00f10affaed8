package dev.backfill.admin.cli;

import java.io.Console;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * What a command takes from the world around it; tests give another one.
 *
 * @param environment the environment variables
 * @param terminal whether somebody watches, so that a line may be drawn over
 * @param pause how it waits
 */
record Surroundings(Map<String, String> environment, boolean terminal, Pause pause) {

    /** The only way the command line waits. */
    @FunctionalInterface
    interface Pause {
        void forAbout(Duration wait) throws InterruptedException;
    }

    static Surroundings real() {
        boolean terminal = isTerminal() && !"dumb".equals(System.getenv("TERM"));
        return new Surroundings(System.getenv(), terminal, Surroundings::waitFor);
    }

    /** Up to JDK 21 there is no console without a terminal; from 22 on there always is one, and it has to be asked. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private static void waitFor(Duration wait) throws InterruptedException {
        // Nobody ever releases it: this is a wait that an interrupt ends.
        if (new Semaphore(0).tryAcquire(wait.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("nobody releases this semaphore");
        }
    }
}
