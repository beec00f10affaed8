/**
 * The demo: relay processes on an embedded server, one of them killed in the middle of a batch, and a proof at the end.
 *
 * <p>Depends on the relay; the relay does not depend on it.
 */
@NullMarked
package dev.backfill.example.relay.demo;

import org.jspecify.annotations.NullMarked;
