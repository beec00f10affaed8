package dev.backfill.postgres.conformance;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import java.util.Locale;

/** The kit finds nothing wrong with a Java function over locked rows. */
class RowDefinitionIT extends Items {

    @Override
    protected BackfillDefinition<Long> definition() {
        return Backfill.define("items.digest.v2")
                .over("items", Keys.bigint("id"))
                .batchSize(5)
                .repair(Repair.rows()
                        .reading("content")
                        .writing(
                                "digest",
                                row -> String.valueOf(row.text("content")).toUpperCase(Locale.ROOT)))
                .validate(PROOF)
                .build();
    }
}
