/**
 * Suites to inherit: {@link dev.backfill.testkit.conformance.DefinitionConformance} proves one definition against the real engine.
 * Depends on {@code dev.backfill.testkit}, never the other way round.
 */
@NullMarked
package dev.backfill.testkit.conformance;

import org.jspecify.annotations.NullMarked;
