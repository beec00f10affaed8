package dev.backfill.postgres.schema;

import dev.backfill.postgres.internal.migrate.Migration;
import java.util.List;
import java.util.stream.Stream;

/** The steps of a release after this one, whose schema this one's is the version before. */
final class LaterRelease {

    static final List<Migration> STEPS = Stream.concat(
                    Migration.ALL.stream(),
                    Stream.of(new Migration(Migration.current(Migration.ALL) + 1, "V002__later.sql")))
            .toList();

    /** The index that its last step creates. */
    static final String INDEX = "backfill_audit_later";

    private LaterRelease() {}
}
