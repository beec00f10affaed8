/**
 * For those who prove one definition, those who prove their embedding, and Backfill's own tests: a database per test class, a
 * harness that steps an engine by hand, gates and races, and connections and sockets that fail on demand.
 *
 * <p>The engine is found through {@link java.util.ServiceLoader}; nothing here depends on it. Dependencies flow from this package
 * to {@code server}, never back.
 */
@NullMarked
package dev.backfill.testkit;

import org.jspecify.annotations.NullMarked;
