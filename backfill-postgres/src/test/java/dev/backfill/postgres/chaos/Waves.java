package dev.backfill.postgres.chaos;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Validation;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;

/**
 * Backfills that follow each other over one table, so that there is work for as long as faults strike. Wave n increments a number
 * that then must be n: a row repaired twice or never shows at once, and for ever.
 */
final class Waves {

    private static final int BATCH = 50;

    private Waves() {}

    static BackfillId id(int wave) {
        return BackfillId.of("chaos.wave-%04d".formatted(wave));
    }

    static List<BackfillDefinition<?>> first(int count) {
        List<BackfillDefinition<?>> waves = new ArrayList<>();
        for (int wave = 1; wave <= count; wave++) {
            waves.add(definition(wave));
        }
        return waves;
    }

    private static BackfillDefinition<Long> definition(int wave) {
        return Backfill.define(id(wave).value())
                .over("chaos", Keys.bigint("id"))
                .batchSize(BATCH)
                .repair((batch, transaction) -> {
                    // Slow on purpose: a kill shall find a batch open.
                    try (PreparedStatement update = transaction
                            .connection()
                            .prepareStatement(
                                    "UPDATE chaos SET hits = hits + 1 FROM (SELECT pg_sleep(0.02)) AS slow WHERE id = ANY (?)")) {
                        update.setArray(
                                1,
                                transaction
                                        .connection()
                                        .createArrayOf("bigint", batch.keys().toArray()));
                        return update.executeUpdate();
                    }
                })
                .validate(Validation.noRowMatches("hits <> " + wave))
                .build();
    }
}
