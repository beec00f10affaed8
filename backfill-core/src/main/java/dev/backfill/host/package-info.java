/**
 * What a host starts and holds: options, startup, readiness, workers.
 *
 * @since 0.1
 */
@NullMarked
package dev.backfill.host;

import org.jspecify.annotations.NullMarked;
