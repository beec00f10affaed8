package dev.backfill.spring;

/** The engine's pool can't be made from the application's. */
final class NoPoolException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoPoolException(String why) {
        super("The engine needs a connection pool of its own, and none could be made: " + why + ".");
    }
}
