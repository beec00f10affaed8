package dev.backfill.operate;

/**
 * What an operator may be allowed; the two are granted apart (AU-1).
 *
 * @since 0.1
 */
public enum Capability {
    /** See lists, details, audit, preflight and pace. */
    READ,
    /** Start, pause, resume, retry, validate, rehearse, pace. */
    CONTROL
}
