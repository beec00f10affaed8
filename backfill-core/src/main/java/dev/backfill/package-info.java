/**
 * The contract of Backfill: values, definitions, the state machine and the interfaces a host, an operator and a test author
 * use. No thread, no SQL, no framework; the engine lives in {@code dev.backfill.postgres} and points here, never back.
 *
 * <p>Numbers such as {@code CL-2} in this documentation cite the clauses of the project's contract, {@code docs/contract.md}.
 */
@NullMarked
package dev.backfill;

import org.jspecify.annotations.NullMarked;
