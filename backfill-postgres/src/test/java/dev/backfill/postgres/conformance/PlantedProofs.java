package dev.backfill.postgres.conformance;

import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.ValidationTransaction;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/** Validations with one fault each, and data sets that prove nothing. Run by {@code PlantedFaultsIT} only. */
final class PlantedProofs {

    private PlantedProofs() {}

    private static ValidationOutcome none(ValidationTransaction<Long> transaction, String condition)
            throws SQLException {
        try (Statement statement = transaction.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM items i WHERE " + condition)) {
            row.next();
            return row.getLong(1) == 0
                    ? ValidationOutcome.holds()
                    : ValidationOutcome.rejected("rows without a digest");
        }
    }

    static class ProvesNothing extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return items().repair((batch, tx) -> lockComputeWrite(batch, tx.connection()))
                    .validate(Validation.noRowMatches("false"))
                    .build();
        }
    }

    static class LooksAtASample extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(tx -> none(tx, tx.withinBound("i") + " AND digest IS NULL AND id % 20 = 10"));
        }
    }

    static class OverlooksTheLastRow extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(
                    tx -> none(tx, "digest IS NULL AND id < " + tx.bound().orElse(0L)));
        }
    }

    static class LooksPastTheBound extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(tx -> none(tx, "digest IS NULL"));
        }
    }

    static class WritesWhileItValidates extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(tx -> {
                try (Statement statement = tx.connection().createStatement()) {
                    statement.execute("INSERT INTO notes (note) VALUES ('validated')");
                }
                return none(tx, tx.withinBound("i") + " AND digest IS NULL");
            });
        }
    }

    static class HoldsOnlyOnce extends Items {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(tx -> asked.incrementAndGet() > 3
                    ? ValidationOutcome.rejected("asked too often")
                    : none(tx, tx.withinBound("i") + " AND digest IS NULL"));
        }
    }

    static class ChokesOnAnEmptySource extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return provenBy(
                    tx -> none(tx, "digest IS NULL AND id <= " + tx.bound().orElseThrow()));
        }
    }

    static class IsAPartOfAFamily extends CustomDefinitionIT {
        @Override
        protected dev.backfill.BackfillDefinition<Long> definition() {
            return super.definition().inRanges(2).parts().get(1);
        }
    }

    static class SeedsNoRow extends CustomDefinitionIT {
        @Override
        protected void seed(java.sql.Connection database) throws SQLException {
            super.seed(database);
            try (Statement statement = database.createStatement()) {
                statement.execute("DELETE FROM items");
            }
        }
    }

    static class SeedsTooFewRows extends CustomDefinitionIT {
        @Override
        protected void seed(java.sql.Connection database) throws SQLException {
            super.seed(database);
            try (Statement statement = database.createStatement()) {
                statement.execute("DELETE FROM items WHERE id > 20");
            }
        }
    }

    static class SeedsNothingToRepair extends CustomDefinitionIT {
        @Override
        protected void seed(java.sql.Connection database) throws SQLException {
            super.seed(database);
            try (Statement statement = database.createStatement()) {
                statement.execute("UPDATE items SET digest = upper(content)");
            }
        }
    }

    static class SeedsNoTable extends CustomDefinitionIT {
        @Override
        protected void seed(java.sql.Connection database) {}
    }

    static class SeedsATableThatDoesNotFit extends CustomDefinitionIT {
        @Override
        protected void seed(java.sql.Connection database) throws SQLException {
            super.seed(database);
            try (Statement statement = database.createStatement()) {
                statement.execute("ALTER TABLE items DROP CONSTRAINT items_pkey");
            }
        }
    }
}
