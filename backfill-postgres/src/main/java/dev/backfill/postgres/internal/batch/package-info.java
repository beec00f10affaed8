/** One batch: open, repair, commit; pages, windows, the fence; one run of a validation. Calls supervise, events, row and below. */
@NullMarked
package dev.backfill.postgres.internal.batch;

import org.jspecify.annotations.NullMarked;
