/**
 * What operators ask, and what they are answered.
 *
 * @since 0.1
 */
@NullMarked
package dev.backfill.operate;

import org.jspecify.annotations.NullMarked;
