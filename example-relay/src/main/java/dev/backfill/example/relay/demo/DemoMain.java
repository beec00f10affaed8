package dev.backfill.example.relay.demo;

/** Runs the demo; the exit code is 0 only if its proof holds. */
public final class DemoMain {

    private DemoMain() {}

    /** Reads the number of events to seed from the system property {@code rows}. */
    public static void main(String[] args) {
        System.out.println("The demo has nothing to show yet (rows = " + System.getProperty("rows") + ").");
    }
}
