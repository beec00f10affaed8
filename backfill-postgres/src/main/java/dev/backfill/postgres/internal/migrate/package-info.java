/** The library's own tables: names, versions, migrations. Calls jdbc only. */
@NullMarked
package dev.backfill.postgres.internal.migrate;

import org.jspecify.annotations.NullMarked;
