/** One run of a validation: its tables are held, its snapshot is taken, its proof is read, its verdict given. Calls supervise, row and below. */
@NullMarked
package dev.backfill.postgres.internal.validate;

import org.jspecify.annotations.NullMarked;
