package dev.backfill.benchmarks;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Validation;
import java.sql.Statement;

/** A repair whose batches take some time, so that whatever interrupts it interrupts a batch. */
final class SlowRepair {

    private static final int MILLIS = 20;

    private SlowRepair() {}

    static BackfillDefinition<Long> of(String id) {
        return Backfill.define(id)
                .over("items", Keys.bigint("id"))
                .batchSize(20)
                .repair((batch, transaction) -> {
                    try (Statement statement = transaction.connection().createStatement()) {
                        statement.execute("select pg_sleep(" + MILLIS / 1000.0 + ")");
                    }
                    return 0;
                })
                .validate(Validation.noRowMatches("amount < 0"))
                .build();
    }
}
