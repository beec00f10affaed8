/** Tests of keys, windows, preflight, pacing and rehearsal: the fault catalogue of this field, on a real PostgreSQL. */
@NullMarked
package dev.backfill.postgres.kind;

import org.jspecify.annotations.NullMarked;
