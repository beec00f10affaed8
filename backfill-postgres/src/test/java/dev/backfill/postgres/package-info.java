/** Proofs of the engine against real PostgreSQL. */
package dev.backfill.postgres;
