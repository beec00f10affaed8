/**
 * How an engine comes up, says whether it is ready, and goes down: boot, readiness, threads, close. Uses everything else.
 */
@NullMarked
package dev.backfill.postgres.internal.startup;

import org.jspecify.annotations.NullMarked;
