/**
 * Conformance suites and a harness that steps an engine by hand, for those who write backfills and for Backfill itself.
 *
 * <p>Depends on {@code dev.backfill}, JUnit and AssertJ; the engine is found at run time, so this package does not
 * depend on the PostgreSQL module. Only tests depend on this package.
 */
@NullMarked
package dev.backfill.testkit;

import org.jspecify.annotations.NullMarked;
