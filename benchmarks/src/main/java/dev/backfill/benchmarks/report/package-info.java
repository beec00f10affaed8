/** What a run found, as values, and how it is written: console, JSON, Markdown, SVG. Depends on nothing else here. */
@NullMarked
package dev.backfill.benchmarks.report;

import org.jspecify.annotations.NullMarked;
