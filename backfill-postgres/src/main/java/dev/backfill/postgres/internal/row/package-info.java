/** The row and its sisters: claims, actions, ledger, audit, definitions, keys. Calls migrate and jdbc. */
@NullMarked
package dev.backfill.postgres.internal.row;

import org.jspecify.annotations.NullMarked;
