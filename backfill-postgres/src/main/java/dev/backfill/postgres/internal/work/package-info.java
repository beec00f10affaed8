/** Claims and works on them: the worker's loop, renewal, settlement, failures, pace. Calls preflight, batch and the rooms below them. */
@NullMarked
package dev.backfill.postgres.internal.work;

import org.jspecify.annotations.NullMarked;
