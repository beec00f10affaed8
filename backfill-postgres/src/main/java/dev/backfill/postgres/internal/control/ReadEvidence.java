package dev.backfill.postgres.internal.control;

import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.Evidence;
import dev.backfill.postgres.internal.row.EvidenceSql.Registered;
import dev.backfill.postgres.internal.row.LibraryVersion;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Evidence as one transaction read it.
 *
 * @param backfill the row
 * @param registered what its definition left behind
 */
record ReadEvidence(BackfillSnapshot backfill, Registered registered) implements Evidence {

    @Override
    public Instant asOf() {
        return registered.asOf();
    }

    @Override
    public @Nullable String table() {
        return registered.table();
    }

    @Override
    public @Nullable String style() {
        return registered.style();
    }

    @Override
    public @Nullable Integer batchSize() {
        return registered.batchSize();
    }

    @Override
    public @Nullable Instant lastRegisteredAt() {
        return registered.lastRegisteredAt();
    }

    @Override
    public @Nullable String registeredByLibrary() {
        return registered.library();
    }

    @Override
    public String library() {
        return LibraryVersion.TEXT;
    }

    @Override
    public String server() {
        return registered.server();
    }
}
