package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An audit record as its columns are. */
record AuditLine(
        long number,
        Instant at,
        @Nullable String actor,
        String authority,
        @Nullable String id,
        @Nullable String requestId,
        String action,
        @Nullable String prior,
        @Nullable String resulting,
        @Nullable Long generation,
        String outcome,
        @Nullable String note) {

    AuditRecord record() {
        return AuditRecord.of(
                        new Authority(Authority.Kind.ofWireName(authority), actor),
                        action,
                        AuditRecord.Outcome.ofWireName(outcome))
                .stored(number, at)
                .about(id == null ? null : BackfillId.of(id))
                .answering(requestId)
                .moved(
                        prior == null ? null : BackfillState.ofWireName(prior),
                        resulting == null ? null : BackfillState.ofWireName(resulting),
                        generation)
                .note(note)
                .build();
    }
}
