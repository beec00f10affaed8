/** Proofs that what happens can be seen: events, logs, metrics, spans, and the answer to "why is it not moving?". */
@NullMarked
package dev.backfill.postgres.observe;

import org.jspecify.annotations.NullMarked;
