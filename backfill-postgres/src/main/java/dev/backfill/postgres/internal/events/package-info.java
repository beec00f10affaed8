/** Log, listeners and what was told already. Calls row and below. */
@NullMarked
package dev.backfill.postgres.internal.events;

import org.jspecify.annotations.NullMarked;
