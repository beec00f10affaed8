/**
 * Where a PostgreSQL for tests comes from: a given URL, a container or an embedded server. Knows nothing of tests or backfills;
 * {@code dev.backfill.testkit} depends on it.
 */
@NullMarked
package dev.backfill.testkit.server;

import org.jspecify.annotations.NullMarked;
