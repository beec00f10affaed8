/**
 * Ours alone; may change with any release.
 *
 * @since 0.1
 */
@NullMarked
package dev.backfill.internal;

import org.jspecify.annotations.NullMarked;
