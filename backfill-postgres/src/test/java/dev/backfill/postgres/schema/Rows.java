package dev.backfill.postgres.schema;

import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.TestDatabase;

/** A database whose one backfill is in a state, for those who only read that. */
final class Rows {

    private Rows() {}

    static void in(TestDatabase db, BackfillState state, String id) {
        Host.items(db, 5);
        try (Backfills engine = Host.ofVersion(db, SchemaMode.MIGRATE, Migration.ALL)) {
            Host.awaitStarted(engine);
        }
        if (state == BackfillState.PENDING) {
            return;
        }
        db.execute(
                "update backfill set state = ?, key_codec = 'v1:bigint', bound = '{5}', bound_captured_at = now(), started_at = now(),"
                        + " completed_at = case when ? = 'completed' then now() end where id = ?",
                state.wireName(), state.wireName(), id);
    }
}
