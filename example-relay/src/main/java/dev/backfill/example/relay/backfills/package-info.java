/**
 * The five repairs of the relay, one small class each, to be read as examples: all authoring styles, four key shapes, and for each
 * a validation that looks at the rows instead of trusting the repair.
 *
 * <p>Depends on the library's contract only.
 */
@NullMarked
package dev.backfill.example.relay.backfills;

import org.jspecify.annotations.NullMarked;
