/**
 * What a host may supply: connections, authorization, audit, listeners, health.
 *
 * @since 0.1
 */
@NullMarked
package dev.backfill.spi;

import org.jspecify.annotations.NullMarked;
