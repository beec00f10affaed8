/**
 * A small relay that hosts Backfill and repairs its own history.
 *
 * <p>May depend on every module; no module depends on it. It is an example and is not published.
 */
@NullMarked
package dev.backfill.example.relay;

import org.jspecify.annotations.NullMarked;
