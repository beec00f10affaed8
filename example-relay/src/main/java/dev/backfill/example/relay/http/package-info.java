/**
 * The relay's two listeners: ordinary serving, and the operator boundary on a port of its own.
 *
 * <p>Depends on the library only; the relay hands in what is served.
 */
@NullMarked
package dev.backfill.example.relay.http;

import org.jspecify.annotations.NullMarked;
