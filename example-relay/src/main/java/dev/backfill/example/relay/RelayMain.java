package dev.backfill.example.relay;

/** Starts the example relay. */
public final class RelayMain {

    private RelayMain() {}

    /** Runs the relay until it is told to stop. */
    public static void main(String[] args) {
        System.out.println("The example relay has nothing to serve yet.");
    }
}
