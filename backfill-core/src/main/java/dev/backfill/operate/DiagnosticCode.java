package dev.backfill.operate;

import java.util.Locale;

/**
 * Why a backfill stands still or was delayed: the one vocabulary, each with what it means and what to do. {@code docs/operate.md}
 * lists it, and a test keeps the two equal.
 *
 * @since 0.1
 */
public enum DiagnosticCode {
    /** See {@link #meaning()}. */
    DEFINITION_ERROR(
            "The definition's code or SQL failed.",
            "Read SQLSTATE and names, fix the code or the data, deploy, retry."),
    /** See {@link #meaning()}. */
    DATA_ERROR(
            "A row can't be repaired, while others can.",
            "Select the row by the key that is named, correct it, retry."),
    /** See {@link #meaning()}. */
    BLOCKED_BY_DEFINITION("The definition says that a prerequisite is unmet.", "Do what its message says, then retry."),
    /** See {@link #meaning()}. */
    RETRY_REQUESTED(
            "The definition asked to be tried again later.", "Nothing, unless it goes on; then read its message."),
    /** See {@link #meaning()}. */
    DEADLINE_PASSED(
            "The definition's code had more than the time of a batch or validation.",
            "End loops and waits in it, or use a smaller batch size; deploy, which also frees threads it still holds."),
    /** See {@link #meaning()}. */
    CONTENTION(
            "A lock, deadlock or conflict with another transaction stopped the batch.",
            "Nothing at first; if it repeats, look for long transactions on the table."),
    /** See {@link #meaning()}. */
    STATEMENT_TOO_SLOW(
            "A statement of the repair ran into its time limit, without a wait for a lock.",
            "Give what it reads an index, ANALYZE, or make the repair cheaper; deploy, retry."),
    /** See {@link #meaning()}. */
    STATEMENT_CANCELLED(
            "Somebody cancelled a statement of the repair before its time limit.",
            "Find who cancels (pg_cancel_backend, a monitor, a pooler's limit) and spare sessions named 'backfill #'."),
    /** See {@link #meaning()}. */
    INFRASTRUCTURE(
            "The connection or the server failed.",
            "Nothing at first; if it repeats, look at the database and the network."),
    /** See {@link #meaning()}. */
    CONTENTION_EXHAUSTED(
            "Contention or infrastructure errors went on past their budget.",
            "Find what holds the locks or breaks connections, then retry."),
    /** See {@link #meaning()}. */
    OWNER_LOST_REPEATEDLY(
            "Owners died again and again without progress; the definition may be killing its process.",
            "Look at the hosts' memory and crash logs, fix the cause, retry."),
    /** See {@link #meaning()}. */
    INCOMPATIBLE_SCHEMA(
            "A table, column, type or privilege is not as the definition needs it.",
            "Migrate or grant what the message names, then retry."),
    /** See {@link #meaning()}. */
    START_BARRIER_TIMEOUT(
            "Transactions that wrote before the start stayed open for too long.",
            "End the named sessions or wait for them, then retry."),
    /** See {@link #meaning()}. */
    TRANSACTION_ENDED_INSIDE(
            "The definition ended or replaced the batch's transaction.",
            "Remove COMMIT, ROLLBACK and transaction control from the definition, deploy, retry."),
    /** See {@link #meaning()}. */
    WINDOW_OUT_OF_ORDER(
            "The new checkpoint would not be after the old one.",
            "Check that nothing changes the key columns while the backfill runs; retry."),
    /** See {@link #meaning()}. */
    WINDOW_BEYOND_BOUND(
            "The new checkpoint would be past the upper bound.",
            "Check that key order and collation match the definition; a changed order takes a new ID."),
    /** See {@link #meaning()}. */
    WINDOW_TOO_LARGE("A window was larger than the declared batch size.", "Report this; retry repeats the window."),
    /** See {@link #meaning()}. */
    WINDOW_EXCEEDED(
            "The repair changed more rows than its window held, so its SQL reaches beyond the window.",
            "Look for a condition or expression that is not complete by itself, or a function that changes other rows; deploy, retry."),
    /** See {@link #meaning()}. */
    TRANSACTION_CONTROL_REFUSED(
            "The definition, or a function that it calls, tried to control the transaction or the session.",
            "Remove commit, rollback, close, SET and the like from the definition and from what it calls, deploy, retry."),
    /** See {@link #meaning()}. */
    SQL_ERROR_SWALLOWED(
            "The definition went on after a SQL error that had aborted the transaction.",
            "Let SQLExceptions pass, or use a savepoint; deploy, retry."),
    /** See {@link #meaning()}. */
    CHANGED_COUNT_INVALID(
            "The definition reported a number of changed rows that can't be: negative, or above a million million.",
            "Return the number of rows changed, 0 or more; deploy, retry."),
    /** See {@link #meaning()}. */
    VALIDATION_REJECTED(
            "The validation ran and found rows that are not repaired.",
            "Find out why (a writer that was not drained?), repair under a new ID or by hand, retry."),
    /** See {@link #meaning()}. */
    VALIDATION_PREREQUISITE(
            "The validation needs something that is not there.", "Do what its message says, then retry."),
    /** See {@link #meaning()}. */
    VALIDATION_WROTE(
            "The validation assigned a transaction ID or left read-only mode.",
            "Make the validation read only, deploy, retry."),
    /** See {@link #meaning()}. */
    VALIDATION_TIMED_OUT("The validation did not end in time.", "Give it an index or a longer limit, then retry.");

    private final String meaning;
    private final String remedy;

    DiagnosticCode(String meaning, String remedy) {
        this.meaning = meaning;
        this.remedy = remedy;
    }

    /** What it means. */
    public String meaning() {
        return meaning;
    }

    /** What an operator does about it. */
    public String remedy() {
        return remedy;
    }

    /** The name in the database, the HTTP API and logs, for instance {@code owner-lost-repeatedly}. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
