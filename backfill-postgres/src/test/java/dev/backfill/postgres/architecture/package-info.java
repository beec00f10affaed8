/** What the engine's rooms may call, and the figures of its shape. No test here needs a database. */
@NullMarked
package dev.backfill.postgres.architecture;

import org.jspecify.annotations.NullMarked;
