/** Runs code that may not come back. Calls events, row and below. */
@NullMarked
package dev.backfill.postgres.internal.supervise;

import org.jspecify.annotations.NullMarked;
