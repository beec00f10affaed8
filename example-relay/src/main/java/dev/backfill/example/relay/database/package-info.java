/**
 * The relay's database: the embedded server, the host's own schema and its history.
 *
 * <p>Depends on nothing else of the relay.
 */
@NullMarked
package dev.backfill.example.relay.database;

import org.jspecify.annotations.NullMarked;
