/**
 * The demo: two relay processes, one of them killed in the middle of a batch, and a proof of what became of it.
 *
 * <p>Depends on the relay's database and definitions, and starts relays as processes of their own.
 */
@NullMarked
package dev.backfill.example.relay.demo;

import org.jspecify.annotations.NullMarked;
