/** The sections of a run, one class each, and the program that runs them. Depends on lab, rivals and report. */
@NullMarked
package dev.backfill.benchmarks;

import org.jspecify.annotations.NullMarked;
