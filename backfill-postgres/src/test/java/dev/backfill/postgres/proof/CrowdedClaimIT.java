package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Validation;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows that can't be claimed, however many, hide none that can (CF-5, CL-4). */
@PostgresTest
class CrowdedClaimIT {

    private final TestDatabase db;

    CrowdedClaimIT(TestDatabase db) {
        this.db = db;
    }

    private static BackfillDefinition<Long> needing(String id, String column) {
        return Counters.over(id)
                .requires("counters", column, "text")
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build();
    }

    @Test
    void more_rows_without_their_schema_than_one_look_holds_do_not_hide_the_one_behind_them() { // CF-5, CF-8
        Counters.fresh(db, 3);
        List<BackfillDefinition<?>> definitions = new ArrayList<>();
        for (int i = 0; i < 260; i++) {
            definitions.add(needing("a.%03d".formatted(i), "note"));
        }
        BackfillId last = BackfillId.of("z.last");
        definitions.add(Counters.over(last.value())
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build());
        try (BackfillHarness harness =
                BackfillHarness.over(db).definitions(definitions).open()) {
            definitions.forEach(definition -> harness.start(definition.id()));
            db.execute("alter table counters rename column note to remark");
            harness.runToCompletion(last);
            assertThat(harness.state(last)).isEqualTo(BackfillState.COMPLETED);
            assertThat(db.queryLong("select count(*) from backfill where generation > 1 and id like 'a.%'"))
                    .isZero();
        }
    }
}
