package dev.backfill.example.relay.backfills;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;

/**
 * The common case: one column from another one, in SQL. Tags hold the root as text in new events and as a number in old ones;
 * {@code #>>} reads both.
 */
public final class ThreadRoots {

    /** The ID; required at start-up in automatic mode. */
    public static final String ID = "events.thread-root.v1";

    private static final String LACKS_ROOT = "thread_root IS NULL AND tags ? 'e'";

    private ThreadRoots() {}

    // region definition
    /** Computes {@code thread_root} of replies. */
    public static BackfillDefinition<Long> definition() {
        return Backfill.define(ID)
                .describedAs("Computes thread_root for replies written before threads existed")
                .over("events", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update()
                        .set("thread_root", "(tags #>> '{e,0}')::bigint")
                        .where(LACKS_ROOT))
                .validate(Validation.noRowMatches(LACKS_ROOT))
                .requires("events", "tags", "jsonb")
                .build();
    }
    // endregion
}
