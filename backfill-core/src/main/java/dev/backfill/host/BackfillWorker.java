package dev.backfill.host;

/**
 * A claim worker. Confined to one thread at a time.
 *
 * @since 0.1
 */
public interface BackfillWorker extends AutoCloseable {

    /**
     * Takes a claim if none is held, then does one thing: a batch, or a validation. Never throws for what happens in the database or
     * in a definition; says what became of it instead.
     */
    StepOutcome step();

    /** Releases the claim, if one is held. Dropping a worker without this is how a process dies: its claim lapses. */
    @Override
    void close();
}
