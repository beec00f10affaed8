package dev.backfill.postgres.internal.control;

/**
 * What answers the operator requests of one engine, once it knows its tables. Immutable, thread-safe.
 *
 * @param lifecycle start, pause, resume, retry
 * @param pace the pace
 * @param rehearsals rehearsals
 * @param validations explicit validations
 * @param reads list, detail, audit, preflight
 * @param trail audit records that belong to no change
 */
public record OperatorHandlers(
        LifecycleControls lifecycle,
        PaceControls pace,
        RehearsalControls rehearsals,
        ValidationControls validations,
        ReadModel reads,
        AuditTrail trail) {}
