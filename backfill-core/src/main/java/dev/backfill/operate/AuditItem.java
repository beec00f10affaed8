package dev.backfill.operate;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An audit record as it is read back; see {@link AuditRecord}.
 *
 * @param auditId its number, rising
 * @param at when, by PostgreSQL's clock
 * @param actor the individual, or null
 * @param authority what vouched for the request
 * @param id the backfill, as it was given
 * @param requestId the request
 * @param action the action
 * @param priorState state before
 * @param resultingState state after
 * @param generation the generation after
 * @param outcome the outcome code
 * @param note the note
 * @since 0.1
 */
public record AuditItem(
        long auditId,
        Instant at,
        @Nullable String actor,
        String authority,
        @Nullable String id,
        @Nullable String requestId,
        String action,
        @Nullable String priorState,
        @Nullable String resultingState,
        @Nullable Long generation,
        String outcome,
        @Nullable String note) {}
