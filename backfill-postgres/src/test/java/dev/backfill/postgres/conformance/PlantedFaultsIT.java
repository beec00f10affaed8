package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Each way to get a definition wrong fails the conformance suite, in the check that is about it, with words that name it. */
class PlantedFaultsIT {

    private static final String BATCH_SIZE = "the_batch_size_makes_no_difference";
    private static final String COUNTS = "the_counts_that_operators_see_are_true";
    private static final String SECOND_PASS = "a_second_pass_writes_nothing";
    private static final String WINDOW = "a_batch_changes_rows_of_its_window_only";
    private static final String KEYS = "the_keys_of_the_source_stay_as_they_are";
    private static final String BEYOND = "rows_beyond_the_bound_are_left_alone";
    private static final String EMPTY = "an_empty_source_completes";
    private static final String CRASH = "a_crash_at_any_boundary_leaves_a_whole_batch_or_none";
    private static final String INTERRUPTED = "every_batch_may_be_interrupted_once";
    private static final String REVERSE = "a_writer_that_takes_the_rows_in_reverse_order_wins";
    private static final String LIVE = "a_write_between_two_statements_of_a_batch_is_not_lost";
    private static final String AGAIN = "the_validation_accepts_repaired_data_again_and_writes_nothing";
    private static final String NOBODY = "the_validation_rejects_data_that_nobody_repaired";
    private static final String ONE_ROW = "the_validation_rejects_any_one_row_left_unrepaired";

    static Stream<Arguments> repairs() {
        return Stream.of(
                arguments(PlantedRepairs.CommitsByCall.class, BATCH_SIZE, "tried to control the transaction"),
                arguments(PlantedRepairs.CommitsBySql.class, BATCH_SIZE, "transaction"),
                arguments(
                        PlantedRepairs.RaisesItsLockTimeout.class,
                        BATCH_SIZE,
                        "tried to control the transaction or the session"),
                arguments(PlantedRepairs.UsesAConnectionOfItsOwn.class, INTERRUPTED, "survive the rollback"),
                arguments(PlantedRepairs.ComputesFromUnlockedRows.class, LIVE, "has not locked"),
                arguments(PlantedRepairs.SkipsLockedRows.class, REVERSE, "SKIP LOCKED"),
                arguments(PlantedRepairs.MovesItsKeys.class, KEYS, "A key must not move"),
                arguments(PlantedRepairs.InsertsIntoItsSource.class, KEYS, "inserts rows into it"),
                arguments(PlantedRepairs.RewritesDoneRows.class, SECOND_PASS, "rewrites rows that are done"),
                arguments(PlantedRepairs.RepairsTheWholeTable.class, WINDOW, "not bounded"),
                arguments(PlantedRepairs.GoesOneKeyTooFar.class, WINDOW, "outside its window"),
                arguments(PlantedRepairs.RepairsBeyondTheBound.class, BEYOND, "beyond the bound"),
                arguments(PlantedRepairs.RemembersWhatItDid.class, CRASH, "keeps state in memory"),
                arguments(PlantedRepairs.DependsOnThePlaceInTheBatch.class, BATCH_SIZE, "where batches end"),
                arguments(PlantedRepairs.WritesRandomValues.class, BATCH_SIZE, "random values"),
                arguments(PlantedRepairs.SwallowsSqlErrors.class, BATCH_SIZE, "went on after a SQL error"),
                arguments(PlantedRepairs.ReportsTooMuch.class, COUNTS, "another number of changed rows"),
                arguments(PlantedRepairs.ReportsLessThanNothing.class, BATCH_SIZE, "can't be: negative"),
                arguments(PlantedRepairs.SkipsTies.class, BATCH_SIZE, "tie"));
    }

    static Stream<Arguments> proofs() {
        return Stream.of(
                arguments(PlantedProofs.ProvesNothing.class, NOBODY, "proves nothing"),
                arguments(PlantedProofs.LooksAtASample.class, ONE_ROW, "overlooks rows"),
                arguments(PlantedProofs.OverlooksTheLastRow.class, ONE_ROW, "the bound is inclusive"),
                arguments(PlantedProofs.LooksPastTheBound.class, BEYOND, "withinBound"),
                arguments(PlantedProofs.WritesWhileItValidates.class, AGAIN, "read only"),
                arguments(PlantedProofs.HoldsOnlyOnce.class, AGAIN, "does not stand by its word"),
                arguments(PlantedProofs.ChokesOnAnEmptySource.class, EMPTY, "over an empty source"));
    }

    static Stream<Arguments> misuses() {
        return Stream.of(
                arguments(PlantedProofs.IsAPartOfAFamily.class, EMPTY, "part 1 of family"),
                arguments(PlantedProofs.SeedsNoRow.class, EMPTY, "The data set is empty"),
                arguments(PlantedProofs.SeedsTooFewRows.class, EMPTY, "left 2 rows"),
                arguments(PlantedProofs.SeedsNothingToRepair.class, EMPTY, "The seed needs no repair"),
                arguments(PlantedProofs.SeedsNoTable.class, EMPTY, "seed() made no table items"),
                arguments(PlantedProofs.SeedsATableThatDoesNotFit.class, EMPTY, "does not fit the tables"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("repairs")
    void a_repair_with_a_fault_is_caught_and_named(Class<?> planted, String check, String words) {
        assertCaught(planted, check, words);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("proofs")
    void a_validation_with_a_fault_is_caught_and_named(Class<?> planted, String check, String words) {
        assertCaught(planted, check, words);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("misuses")
    void a_data_set_that_proves_nothing_is_refused_and_says_why(Class<?> planted, String check, String words) {
        assertCaught(planted, check, words);
    }

    @Test
    void every_planted_fault_is_listed_here() {
        Set<Object> listed = Stream.of(repairs(), proofs(), misuses())
                .flatMap(all -> all.map(arguments -> arguments.get()[0]))
                .collect(Collectors.toSet());
        assertThat(listed)
                .containsAll(Stream.of(PlantedRepairs.class, PlantedProofs.class)
                        .flatMap(holder -> Stream.of(holder.getDeclaredClasses()))
                        .toList());
    }

    private static void assertCaught(Class<?> planted, String check, String words) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectMethod(planted, check))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        assertThat(summary.getTotalFailureCount())
                .as("failures of %s in %s", planted.getSimpleName(), check)
                .isOne();
        assertThat(summary.getFailures().get(0).getException().getMessage())
                .contains(words)
                .contains("What to do: ");
    }
}
