/**
 * The command line {@code backfill}: a client of the HTTP API and of nothing else. Depends on no other package of this module, so
 * that what it can do is what any client can do; of the core it uses the cleaning of text alone.
 */
@NullMarked
package dev.backfill.admin.cli;

import org.jspecify.annotations.NullMarked;
