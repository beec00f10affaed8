package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import org.jspecify.annotations.Nullable;

/**
 * One logical request of an operator beyond the lifecycle: a pace or a rehearsal. The rules of its request ID are those of
 * {@link OperatorRequest}.
 *
 * @param id of which backfill
 * @param requestId 1 to 128 characters of 0x21 to 0x7E, chosen by the caller, new for each logical request
 * @param authority who asks
 * @param note why, at most 500 characters, kept in the audit; null for none
 * @param decidedOn the generation on which this was decided, as in {@link OperatorRequest}; null for whatever it has
 * @since 0.1
 */
public record ControlRequest(
        BackfillId id,
        String requestId,
        Authority authority,
        @Nullable String note,
        @Nullable Long decidedOn) {

    /** A request for whatever generation the row has. */
    public ControlRequest(BackfillId id, String requestId, Authority authority, @Nullable String note) {
        this(id, requestId, authority, note, null);
    }

    /** The same request, refused with {@link ConflictCode#GENERATION_CONFLICT} if the row has moved on from this generation. */
    public ControlRequest decidedOn(long generation) {
        return new ControlRequest(id, requestId, authority, note, generation);
    }

    /** Checks the request ID and cleans the note. */
    public ControlRequest {
        if (!OperatorRequest.isValidRequestId(requestId)) {
            throw new IllegalArgumentException(
                    "a request ID is 1 to 128 characters of 0x21 to 0x7E, got " + requestId.length() + " characters");
        }
        if (note != null) {
            if (note.length() > OperatorRequest.MAX_NOTE) {
                throw new IllegalArgumentException(
                        "a note has at most " + OperatorRequest.MAX_NOTE + " characters, got " + note.length());
            }
            note = BoundedText.clean(note, OperatorRequest.MAX_NOTE);
        }
    }
}
