/** The server, its databases, and the instruments: clocks, CPU, WAL, statements, the wire. Depends on nothing else here. */
@NullMarked
package dev.backfill.benchmarks.lab;

import org.jspecify.annotations.NullMarked;
