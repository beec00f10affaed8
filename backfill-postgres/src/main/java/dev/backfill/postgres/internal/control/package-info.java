/** Every operator request: reads, lifecycle actions, pace, rehearsal, validation. Calls preflight and the rooms below it. */
@NullMarked
package dev.backfill.postgres.internal.control;

import org.jspecify.annotations.NullMarked;
