package dev.backfill.operate;

import dev.backfill.BackfillId;
import org.jspecify.annotations.Nullable;

/**
 * One accepted or rejected attempt (AU-3). All text is bounded and cleaned.
 *
 * @param authority who asked
 * @param id the backfill, or null where a request named none
 * @param requestId the request, or null for the engine's own transitions
 * @param action the action's wire name
 * @param priorState state before; null where no row was read
 * @param resultingState state after; equal to the prior one when nothing moved
 * @param generation the generation after
 * @param outcome one of the audit vocabulary in {@code docs/operate.md}
 * @param note the operator's note, or a code
 * @since 0.1
 */
public record AuditRecord(
        Authority authority,
        @Nullable BackfillId id,
        @Nullable String requestId,
        String action,
        @Nullable BackfillState priorState,
        @Nullable BackfillState resultingState,
        @Nullable Long generation,
        String outcome,
        @Nullable String note) {}
