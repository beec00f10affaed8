/**
 * The work: claim, batch, fence, validation, failure policy, and the threads that drive them. The walk of one batch is
 * {@code Worker}, {@code BatchRunner}, the definition's repair, {@code FenceSql}. Uses {@code store}, {@code schema} and {@code jdbc}.
 */
@NullMarked
package dev.backfill.postgres.internal.engine;

import org.jspecify.annotations.NullMarked;
