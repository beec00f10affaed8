/**
 * The library's own tables, how they come to be, and what the catalog says of a definition's tables. Uses {@code jdbc} only.
 */
@NullMarked
package dev.backfill.postgres.internal.schema;

import org.jspecify.annotations.NullMarked;
