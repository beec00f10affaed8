package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import org.jspecify.annotations.Nullable;

/**
 * One logical request of an operator. Repeating it with the same request ID returns its original result (IK-2).
 *
 * @param action what is asked
 * @param id of which backfill
 * @param requestId 1 to 128 characters of 0x21 to 0x7E, chosen by the caller, new for each logical request
 * @param authority who asks
 * @param note why, at most 500 characters, kept in the audit; null for none
 * @param decidedOn the generation of the row on which this was decided: if the row has another one, the request is refused (CL-3); null
 *     for whatever it has
 * @since 0.1
 */
public record OperatorRequest(
        BackfillAction action,
        BackfillId id,
        String requestId,
        Authority authority,
        @Nullable String note,
        @Nullable Long decidedOn) {

    /** The most characters of a note. */
    public static final int MAX_NOTE = 500;

    /** Checks the request ID and cleans the note. */
    public OperatorRequest {
        if (!isValidRequestId(requestId)) {
            throw new IllegalArgumentException(
                    "a request ID is 1 to 128 characters of 0x21 to 0x7E, got " + requestId.length() + " characters");
        }
        if (note != null) {
            if (note.length() > MAX_NOTE) {
                throw new IllegalArgumentException(
                        "a note has at most " + MAX_NOTE + " characters, got " + note.length());
            }
            note = BoundedText.clean(note, MAX_NOTE);
        }
    }

    /** A request for whatever generation the row has. */
    public OperatorRequest(
            BackfillAction action, BackfillId id, String requestId, Authority authority, @Nullable String note) {
        this(action, id, requestId, authority, note, null);
    }

    /** The same request, refused with {@link ConflictCode#GENERATION_CONFLICT} if the row has moved on from this generation. */
    public OperatorRequest decidedOn(long generation) {
        return new OperatorRequest(action, id, requestId, authority, note, generation);
    }

    /** Whether a text may be a request ID. */
    public static boolean isValidRequestId(String text) {
        return !text.isEmpty() && text.length() <= 128 && text.chars().allMatch(c -> c >= 0x21 && c <= 0x7E);
    }
}
