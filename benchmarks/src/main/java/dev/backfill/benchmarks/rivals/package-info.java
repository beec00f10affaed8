/** The same repair by different means. Depends on the lab. */
@NullMarked
package dev.backfill.benchmarks.rivals;

import org.jspecify.annotations.NullMarked;
