/** Tests that see every module at once: architecture, and what the documents show. */
package dev.backfill.reactor;
