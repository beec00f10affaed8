package dev.backfill.example.relay.demo;

/** The demo could not be shown; says why. */
final class DemoFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DemoFailure(String message) {
        super(message);
    }
}
