/** Proofs of how an engine comes up, says whether it is ready, and goes down. */
package dev.backfill.postgres.startup;
