package dev.backfill.postgres.conformance;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The kit finds nothing wrong with SQL over windows of a compound key with ties, and a column that differs from run to run. */
class SetDefinitionIT extends DefinitionConformance<CompoundKey> {

    @Override
    protected BackfillDefinition<CompoundKey> definition() {
        return Backfill.define("events.kind.v1")
                .over("events", Keys.compound(Keys.timestamptz("at"), Keys.uuid("id")))
                .batchSize(4)
                .repair(Repair.update()
                        .set("kind", "coalesce(tags ->> 'k', 'none')")
                        .set("touched_at", "clock_timestamp()")
                        .where("kind IS NULL"))
                .validate(Validation.noRowMatches("kind IS NULL"))
                .build();
    }

    @Override
    protected void seed(Connection database) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute(
                    "CREATE TABLE events (at timestamptz NOT NULL, id uuid NOT NULL, tags jsonb NOT NULL, kind text,"
                            + " touched_at timestamptz, PRIMARY KEY (at, id))");
            statement.execute(
                    "INSERT INTO events SELECT timestamptz '2026-01-01 00:00:00.000001Z' + (g / 4) * interval '1 day',"
                            + " md5(g::text)::uuid, CASE WHEN g % 3 = 0 THEN '{}' ELSE jsonb_build_object('k', 'v' || g) END"
                            + " FROM generate_series(1, 14) g");
        }
    }

    @Override
    protected List<String> ignoredColumns() {
        return List.of("touched_at");
    }
}
