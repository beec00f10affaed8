package dev.backfill.postgres.chaos;

import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every version that a backfill's row ever had, written down by a trigger in the transaction that made it, past the engine; and the
 * rules that hold between one version and the next. The library itself has no triggers: this one is the test's own.
 */
final class History {

    private final TestDatabase database;

    private History(TestDatabase database) {
        this.database = database;
    }

    /** Begins to write down what becomes of the rows of a migrated database. */
    static History of(TestDatabase database) {
        database.execute("""
                CREATE TABLE history (no bigserial PRIMARY KEY, id text NOT NULL, gone boolean NOT NULL,
                  old_state text, state text, old_generation bigint, generation bigint, old_token uuid, token uuid,
                  old_checkpoint bigint, checkpoint bigint, old_bound text[], bound text[], old_batches bigint, batches bigint)""");
        database.execute("""
                CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  INSERT INTO history (id, gone, old_state, state, old_generation, generation, old_token, token, old_checkpoint,
                    checkpoint, old_bound, bound, old_batches, batches)
                  VALUES (OLD.id, TG_OP = 'DELETE', OLD.state, NEW.state, OLD.generation, NEW.generation, OLD.claim_token,
                    NEW.claim_token, OLD.checkpoint[1]::bigint, NEW.checkpoint[1]::bigint, OLD.bound, NEW.bound, OLD.batches,
                    NEW.batches);
                  RETURN NULL;
                END $$""");
        database.execute(
                "CREATE TRIGGER remember AFTER UPDATE OR DELETE ON backfill FOR EACH ROW EXECUTE FUNCTION remember()");
        return new History(database);
    }

    long versions() {
        return database.queryLong("SELECT count(*) FROM history");
    }

    /** Generations that somebody owned, over all backfills. */
    long acquisitions() {
        return database.queryLong("SELECT count(DISTINCT (id, generation)) FROM history WHERE token IS NOT NULL");
    }

    /** How often the checkpoint moved. */
    long batches() {
        return database.queryLong("SELECT count(*) FROM history WHERE checkpoint IS DISTINCT FROM old_checkpoint");
    }

    /** What must never be, with the first versions that show it; empty if all is well. */
    List<String> violations() {
        List<String> found = new ArrayList<>();
        look(found, "a row was deleted", "gone");
        look(found, "the generation fell", "generation < old_generation");
        look(
                found,
                "an owner came without a new generation",
                "token IS NOT NULL AND token IS DISTINCT FROM old_token AND generation <= old_generation");
        look(
                found,
                "the checkpoint went back",
                "old_checkpoint IS NOT NULL AND (checkpoint IS NULL OR checkpoint < old_checkpoint)");
        look(found, "the checkpoint is beyond the bound", "checkpoint > bound[1]::bigint");
        look(
                found,
                "the checkpoint moved without its owner",
                "checkpoint IS DISTINCT FROM old_checkpoint AND old_token IS NULL");
        look(
                found,
                "a checkpoint moved without its batch",
                "(checkpoint IS DISTINCT FROM old_checkpoint) <> (batches = old_batches + 1)");
        look(found, "the bound changed", "old_state <> 'pending' AND bound IS DISTINCT FROM old_bound");
        look(found, "no way leads there", "old_state <> state AND (old_state, state) NOT IN (" + ways() + ")");
        look(found, "a completed row changed", "old_state = 'completed'");
        for (Map<String, String> two : database.queryRows(
                "SELECT id, generation, count(DISTINCT token) AS owners FROM history WHERE token IS NOT NULL"
                        + " GROUP BY id, generation HAVING count(DISTINCT token) > 1 LIMIT 5")) {
            found.add("two owners in one generation: " + two);
        }
        audited(found);
        return found;
    }

    private void look(List<String> found, String rule, String when) {
        for (Map<String, String> version :
                database.queryRows("SELECT * FROM history WHERE " + when + " ORDER BY no LIMIT 5")) {
            found.add(rule + ": " + version);
        }
    }

    /**
     * What the audit tells, and what the rows tell: the same transitions, equally often. What follows from the work itself, that
     * the bound is reached or an attempt failed, is nobody's action and not in the audit.
     */
    private void audited(List<String> found) {
        for (Map<String, String> difference : database.queryRows("""
                SELECT coalesce(h.id, a.id) AS id, coalesce(h.was, a.was) AS was, coalesce(h.is, a.is) AS is,
                  coalesce(h.times, 0) AS in_the_row, coalesce(a.times, 0) AS in_the_audit
                FROM (SELECT id, old_state AS was, state AS is, count(*) AS times FROM history WHERE old_state <> state
                      GROUP BY 1, 2, 3) AS h
                FULL JOIN (SELECT id, prior_state AS was, resulting_state AS is, count(*) AS times FROM backfill_audit
                           WHERE outcome = 'applied' AND prior_state <> resulting_state GROUP BY 1, 2, 3) AS a
                  ON h.id = a.id AND h.was = a.was AND h.is = a.is
                WHERE h.times IS DISTINCT FROM a.times
                AND NOT (a.id IS NULL AND (h.is IN ('blocked', 'failed') OR (h.was, h.is) = ('running', 'validating')))
                LIMIT 5""")) {
            found.add("the audit and the row disagree: " + difference);
        }
    }

    private static String ways() {
        return Stream.of(BackfillState.values())
                .flatMap(from -> from.next().stream().map(to -> "('" + from.wireName() + "', '" + to.wireName() + "')"))
                .collect(Collectors.joining(", "));
    }
}
