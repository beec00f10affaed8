/**
 * Every statement on the library's tables, one per intention: those that change a backfill, and those that only read. Uses
 * {@code jdbc} and {@code schema}; knows no thread and no policy.
 */
@NullMarked
package dev.backfill.postgres.internal.store;

import org.jspecify.annotations.NullMarked;
