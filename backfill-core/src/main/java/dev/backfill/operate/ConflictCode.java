package dev.backfill.operate;

import java.util.Locale;

/**
 * Why a request was refused.
 *
 * @since 0.1
 */
public enum ConflictCode {
    /** The state does not allow the action. */
    ILLEGAL_TRANSITION,
    /** The request ID was used for another action, backfill or actor (IK-3). */
    REQUEST_ID_REUSED,
    /** This process has no definition of that ID, which start and validate need, or can't read its row (ID-5). */
    UNKNOWN_HERE,
    /** A table or column that the definition needs is missing or of another type (CF-8). */
    INCOMPATIBLE_SCHEMA,
    /** Preflight found errors. */
    PREFLIGHT_FAILED,
    /** The row has moved on since the generation on which the request was decided (CL-3). */
    GENERATION_CONFLICT;

    /** The name in the HTTP API and the audit. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
