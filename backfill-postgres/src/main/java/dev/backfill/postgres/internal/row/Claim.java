package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a worker holds: one acquisition of the one claim. The generation fences, the token tells two acquisitions apart that a
 * failover gave the same generation.
 *
 * @param id the backfill
 * @param no its number, the key of its advisory lock
 * @param state {@code running} or {@code validating}
 * @param generation the generation this acquisition raised it to
 * @param token this acquisition's own
 * @param owner who acquired it, for people
 * @param bound the inclusive bound; null for an empty source
 * @param rangeLow the exclusive lower bound of a part of a family; null where the range begins with the first key
 * @param checkpoint the last committed key; null before the first
 * @param attempts claims since the last progress, this one included
 * @param contended contention failures since the last progress
 * @param takenOver whether an expired claim was taken over
 * @param history the server's history in which it was acquired; null in one that is no claim on a row
 */
public record Claim(
        BackfillId id,
        int no,
        BackfillState state,
        long generation,
        UUID token,
        String owner,
        @Nullable List<String> bound,
        @Nullable List<String> rangeLow,
        @Nullable List<String> checkpoint,
        int attempts,
        int contended,
        boolean takenOver,
        @Nullable History history) {

    /** After which key the work goes on; null for "before everything". */
    public @Nullable List<String> after() {
        return checkpoint == null ? rangeLow : checkpoint;
    }

    /** The same claim after a committed batch. */
    public Claim advanced(BackfillState now, @Nullable List<String> newCheckpoint) {
        return new Claim(
                id, no, now, generation, token, owner, bound, rangeLow, newCheckpoint, 0, 0, takenOver, history);
    }
}
