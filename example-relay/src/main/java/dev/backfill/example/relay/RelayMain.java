package dev.backfill.example.relay;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the example relay. */
public final class RelayMain {

    private static final Logger LOG = LoggerFactory.getLogger(RelayMain.class);
    private static final int USAGE = 2;
    private static final Duration LONGEST_STOP = Duration.ofSeconds(9);

    private RelayMain() {}

    /** Runs the relay until it is told to stop. Exit codes: 0 stopped, 1 could not start, 2 unusable options. */
    public static void main(String[] args) {
        if (List.of(args).contains("--help")) {
            System.out.print(RelayOptions.help());
            return;
        }
        try {
            run(RelayOptions.parse(List.of(args), System.getenv()));
        } catch (OptionException e) {
            System.err.println("relay: " + e.getMessage());
            System.exit(USAGE);
        }
    }

    private static void run(RelayOptions options) {
        Relay relay = new Relay(options);
        AtomicInteger exitCode = new AtomicInteger();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(relay, exitCode), "relay-stop"));
        try {
            relay.start();
            new CountDownLatch(1).await(); // until a signal
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.error("{}", e.getMessage());
            exitCode.set(1);
            System.exit(1);
        }
    }

    /** Runs when a signal asks the JVM to end. */
    private static void stop(Relay relay, AtomicInteger exitCode) {
        Thread stopping = new Thread(relay::close, "relay-close");
        stopping.setDaemon(true);
        stopping.start();
        try {
            stopping.join(LONGEST_STOP.toMillis());
            if (stopping.isAlive()) {
                LOG.warn(
                        "Not everything stopped in {} s; claims still held lapse with their lease",
                        LONGEST_STOP.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // The JVM would report 143 for SIGTERM; being told to stop is no failure.
        Runtime.getRuntime().halt(exitCode.get());
    }
}
