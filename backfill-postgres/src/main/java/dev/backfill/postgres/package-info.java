/**
 * The engine on PostgreSQL, as hosts see it: {@link dev.backfill.postgres.PostgresBackfills} and what guards a host's own
 * migrations. Points to {@code dev.backfill}; everything below {@code internal} is private to it.
 */
@NullMarked
package dev.backfill.postgres;

import org.jspecify.annotations.NullMarked;
