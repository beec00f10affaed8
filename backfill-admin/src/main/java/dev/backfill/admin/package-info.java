/**
 * The operator's boundary: HTTP resources, the console and the command line.
 *
 * <p>Depends on {@code dev.backfill} only; it speaks to the engine through the core contract and knows neither SQL nor
 * the PostgreSQL module. Nothing in the library depends on this package.
 */
@NullMarked
package dev.backfill.admin;

import org.jspecify.annotations.NullMarked;
