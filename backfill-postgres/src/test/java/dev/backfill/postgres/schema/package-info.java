/** Proofs about the library's own tables, and about the guards of the host's schema changes. */
package dev.backfill.postgres.schema;
