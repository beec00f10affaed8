package dev.backfill.admin.cli;

/** What a script learns from the exit status; documented in docs/operator-api.md and in the usage text. */
final class ExitCode {

    static final int DONE = 0;
    static final int UNEXPECTED = 1;
    static final int USAGE = 2;
    static final int REFUSED = 3;
    static final int NOT_ALLOWED = 4;
    static final int NOT_FOUND = 5;
    static final int UNAVAILABLE = 6;
    static final int VALIDATION_FAILURE = 7;
    static final int NO_RESULT = 8;
    static final int STOPPED = 9;
    static final int TIMED_OUT = 10;

    private ExitCode() {}
}
