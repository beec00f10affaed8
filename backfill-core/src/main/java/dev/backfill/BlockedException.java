package dev.backfill;

/**
 * Thrown by a definition when a prerequisite is unmet or a data invariant is broken, and an operator is needed: the batch rolls
 * back and the backfill enters {@code blocked} (RB-4).
 *
 * <p>The message is shown to operators: write what is wrong and what to do, without row values. It is cut to 1 KiB and cleaned.
 *
 * @since 0.1
 */
public class BlockedException extends BackfillException {

    private static final long serialVersionUID = 1L;

    /** With what is wrong and what the operator should do. */
    public BlockedException(String whatToDo) {
        super(whatToDo);
    }
}
