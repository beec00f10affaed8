/**
 * JDBC with the traps of PostgreSQL and pgjdbc handled in one place: named parameters, bounded sessions, one reading of SQLSTATE,
 * and the guarded connection that definitions get. Knows nothing of backfills' tables; everything else in the engine may use it.
 */
@NullMarked
package dev.backfill.postgres.internal.jdbc;

import org.jspecify.annotations.NullMarked;
