package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One logical request of an operator; the method of {@link BackfillOperations} that takes it says what is asked. Repeating it with the
 * same request ID returns its original result (IK-2). Immutable.
 *
 * @since 0.1
 */
public final class OperatorRequest {

    /** The most characters of a note. */
    public static final int MAX_NOTE = 500;

    private final BackfillId id;
    private final String requestId;
    private final Authority authority;
    private final @Nullable String note;
    private final @Nullable Long decidedOn;

    /**
     * A request for whatever generation the row has.
     *
     * @param id of which backfill
     * @param requestId 1 to 128 characters of 0x21 to 0x7E, chosen by the caller, new for each logical request
     * @param authority who asks
     * @param note why, at most 500 characters, kept in the audit; null for none
     * @throws IllegalArgumentException for a request ID or a note that breaks its rule
     */
    public OperatorRequest(BackfillId id, String requestId, Authority authority, @Nullable String note) {
        this(id, requestId, authority, cleaned(note), null);
    }

    private OperatorRequest(
            BackfillId id, String requestId, Authority authority, @Nullable String note, @Nullable Long decidedOn) {
        if (!isValidRequestId(requestId)) {
            throw new IllegalArgumentException(
                    "a request ID is 1 to 128 characters of 0x21 to 0x7E, got " + requestId.length() + " characters");
        }
        this.id = Objects.requireNonNull(id, "id");
        this.requestId = requestId;
        this.authority = Objects.requireNonNull(authority, "authority");
        this.note = note;
        this.decidedOn = decidedOn;
    }

    /**
     * The same request, refused with {@link ConflictCode#GENERATION_CONFLICT} if the row has moved on from this generation (CL-3); null
     * for whatever it has.
     */
    public OperatorRequest decidedOn(@Nullable Long generation) {
        return new OperatorRequest(id, requestId, authority, note, generation);
    }

    /** Of which backfill. */
    public BackfillId id() {
        return id;
    }

    /** The request ID. */
    public String requestId() {
        return requestId;
    }

    /** Who asks. */
    public Authority authority() {
        return authority;
    }

    /** Why; null for none. */
    public @Nullable String note() {
        return note;
    }

    /** The generation of the row on which this was decided; null for whatever it has. */
    public @Nullable Long decidedOn() {
        return decidedOn;
    }

    /** Whether a text may be a request ID. */
    public static boolean isValidRequestId(String text) {
        return !text.isEmpty() && text.length() <= 128 && text.chars().allMatch(c -> c >= 0x21 && c <= 0x7E);
    }

    private static @Nullable String cleaned(@Nullable String note) {
        if (note == null) {
            return null;
        }
        if (note.length() > MAX_NOTE) {
            throw new IllegalArgumentException("a note has at most " + MAX_NOTE + " characters, got " + note.length());
        }
        return BoundedText.clean(note, MAX_NOTE);
    }
}
