/**
 * Metrics and spans through Micrometer, both optional: nothing here is loaded unless the host names it. Points to
 * {@code dev.backfill} only; hangs on events and the operator plane like any host's own code.
 */
@NullMarked
package dev.backfill.postgres.observe;

import org.jspecify.annotations.NullMarked;
