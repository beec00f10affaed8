/** What can be known before a batch runs: catalog facts, findings, plans, rehearsals, family ranges. Calls batch and the rooms below it. */
@NullMarked
package dev.backfill.postgres.internal.preflight;

import org.jspecify.annotations.NullMarked;
