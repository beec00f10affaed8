package dev.backfill.postgres.internal.row;

import dev.backfill.operate.BackfillState;

/**
 * Where a row stands after a control.
 *
 * @param state the state now
 * @param generation the generation now
 */
public record Transition(BackfillState state, long generation) {}
