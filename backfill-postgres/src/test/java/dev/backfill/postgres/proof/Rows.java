package dev.backfill.postgres.proof;

import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.TestDatabase;

/** Puts the row into a state at once, by SQL that the table's constraints accept. */
final class Rows {

    static final String TOKEN = "00000000-0000-0000-0000-00000000000a";

    private Rows() {}

    /** Unclaimed, generation 7; started rows have the bound 10 and the checkpoint 4, or 10 from {@code validating} on. */
    static void put(TestDatabase db, BackfillState state) {
        boolean pending = state == BackfillState.PENDING;
        boolean reached = state == BackfillState.VALIDATING || state == BackfillState.COMPLETED;
        put(db, state, pending ? "null" : reached ? "'{10}'" : "'{4}'");
    }

    static void put(TestDatabase db, BackfillState state, String checkpoint) {
        boolean pending = state == BackfillState.PENDING;
        String started = pending
                ? "bound = null, bound_captured_at = null, started_at = null"
                : "bound = '{10}', bound_captured_at = timestamptz '2026-01-01 00:00Z', started_at = timestamptz '2026-01-01 00:00Z'";
        db.execute("update backfill set state = '" + state.wireName() + "', generation = 7, key_codec = 'v1:bigint', "
                + started
                + ", bound_empty = false, bound_xmax = 1, barrier_passed_at = now(), checkpoint = " + checkpoint
                + ", claim_token = null, claim_owner = null, claimed_at = null, claim_expires_at = null, attempts = 0,"
                + " contended = 0, next_attempt_at = null, failure_code = null, failure_message = null,"
                + " failure_sql_state = null, failure_at = null, completed_lsn = null, completed_at = "
                + (state == BackfillState.COMPLETED ? "now()" : "null"));
    }

    /** A claim that is valid for an hour. */
    static void claim(TestDatabase db) {
        db.execute("update backfill set claim_token = '" + TOKEN + "', claim_owner = 'somebody', claimed_at = now(),"
                + " claim_expires_at = now() + interval '1 hour', attempts = 1");
    }
}
