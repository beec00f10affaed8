package dev.backfill.testkit.conformance;

import dev.backfill.BackfillDefinition;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Everything that can go wrong with one definition, proven with the real engine on a real database. Inherit, name the definition and
 * seed a small data set; each failure says what is wrong, what was seen and what to do.
 *
 * <pre>{@code
 * class ThreadRootsTest extends DefinitionConformance<Long> {
 *     @Override protected BackfillDefinition<Long> definition() { return threadRoots; }
 *     @Override protected void seed(Connection db) throws SQLException { ... }
 * }
 * }</pre>
 *
 * <p>A good seed has about twenty rows as an old writer left them, most of which need the repair and some of which don't, rows that
 * tie in the first column of a compound key, and a last row that needs it. It makes the tables as production has them, with keys and
 * constraints. The engine must be on the class path.
 *
 * @param <K> the key of the definition
 * @since 0.1
 */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class DefinitionConformance<K> {

    // Set before every test; JUnit makes the instance first.
    private @org.jspecify.annotations.Nullable DefinitionChecks<K> checks;

    /** For subclasses. */
    protected DefinitionConformance() {}

    /** The definition to prove. Called once. */
    protected abstract BackfillDefinition<K> definition();

    /**
     * Creates the tables and inserts rows that need the repair, into an empty database.
     *
     * @param database a connection in auto-commit mode, closed afterwards
     */
    protected abstract void seed(Connection database) throws Exception;

    /** Names of columns whose values may differ from run to run, such as {@code updated_at}; default none. */
    protected List<String> ignoredColumns() {
        return List.of();
    }

    /**
     * Whether the repair leaves rows alone that are done; default true. A repair that can't tell them, such as one that increments a
     * number, says no; a second pass is then not tried.
     */
    protected boolean tellsDoneRows() {
        return true;
    }

    /**
     * Whether what becomes of a row depends on that row alone; default true. Where it depends on others, say no; rows are then not
     * deleted or changed while the backfill runs.
     */
    protected boolean rowsAreIndependent() {
        return true;
    }

    @BeforeAll
    final void one_uninterrupted_run_completes(TestDatabase database) throws Exception {
        Subject<K> subject =
                new Subject<>(definition(), this::seed, ignoredColumns(), tellsDoneRows(), rowsAreIndependent());
        checks = new DefinitionChecks<>(database, subject);
        checks.prepare();
    }

    @AfterAll
    final void close() throws SQLException {
        if (checks != null) {
            checks.close();
        }
    }

    private DefinitionChecks<K> checks() {
        return java.util.Objects.requireNonNull(checks, "JUnit calls @BeforeAll first");
    }

    @Test
    final void the_batch_size_makes_no_difference() {
        checks().run().the_batch_size_makes_no_difference();
    }

    @Test
    final void the_counts_that_operators_see_are_true() {
        checks().run().the_counts_that_operators_see_are_true();
    }

    @Test
    final void a_second_pass_writes_nothing() {
        checks().run().a_second_pass_writes_nothing();
    }

    @Test
    final void a_batch_changes_rows_of_its_window_only() {
        checks().run().a_batch_changes_rows_of_its_window_only();
    }

    @Test
    final void the_keys_of_the_source_stay_as_they_are() {
        checks().run().the_keys_of_the_source_stay_as_they_are();
    }

    @Test
    final void rows_beyond_the_bound_are_left_alone() {
        checks().run().rows_beyond_the_bound_are_left_alone();
    }

    @Test
    final void an_empty_source_completes() {
        checks().run().an_empty_source_completes();
    }

    @Test
    final void a_crash_at_any_boundary_leaves_a_whole_batch_or_none() {
        checks().crash().a_crash_at_any_boundary_leaves_a_whole_batch_or_none();
    }

    @Test
    final void every_batch_may_be_interrupted_once() {
        checks().crash().every_batch_may_be_interrupted_once();
    }

    @Test
    final void a_zombie_owner_changes_nothing() throws Exception {
        checks().crash().a_zombie_owner_changes_nothing();
    }

    @Test
    final void a_pause_during_a_batch_costs_nothing() throws Exception {
        checks().crash().a_pause_during_a_batch_costs_nothing();
    }

    @Test
    final void rows_may_be_inserted_and_deleted_below_the_bound() {
        checks().rivals().rows_may_be_inserted_and_deleted_below_the_bound();
    }

    @Test
    final void a_writer_that_takes_the_rows_in_reverse_order_wins() throws Exception {
        checks().rivals().a_writer_that_takes_the_rows_in_reverse_order_wins();
    }

    @Test
    final void a_write_between_two_statements_of_a_batch_is_not_lost() {
        checks().rivals().a_write_between_two_statements_of_a_batch_is_not_lost();
    }

    @Test
    final void the_validation_accepts_repaired_data_again_and_writes_nothing() {
        checks().validation().the_validation_accepts_repaired_data_again_and_writes_nothing();
    }

    @Test
    final void the_validation_rejects_data_that_nobody_repaired() {
        checks().validation().the_validation_rejects_data_that_nobody_repaired();
    }

    @Test
    final void the_validation_rejects_any_one_row_left_unrepaired() {
        checks().validation().the_validation_rejects_any_one_row_left_unrepaired();
    }
}
