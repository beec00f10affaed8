/** Failovers on real clusters, by the profile {@code failover} only: each loses commits, and the rows are counted afterwards. */
@NullMarked
package dev.backfill.postgres.failover;

import org.jspecify.annotations.NullMarked;
