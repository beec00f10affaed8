/**
 * The relay's database: the embedded server, the host's own schema and its history.
 *
 * <p>Knows of the repairs no more than the ID that its contract step waits for.
 */
@NullMarked
package dev.backfill.example.relay.database;

import org.jspecify.annotations.NullMarked;
