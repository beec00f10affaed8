package dev.backfill.benchmarks.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The arithmetic behind every table. */
class StatisticsTest {

    @Test
    void a_percentile_lies_between_its_neighbours_and_leaves_the_values_in_their_order() {
        double[] values = {30, 10, 20};
        assertThat(Statistics.percentile(values, 0)).isEqualTo(10);
        assertThat(Statistics.percentile(values, 0.5)).isEqualTo(20);
        assertThat(Statistics.percentile(values, 0.75)).isEqualTo(25);
        assertThat(Statistics.percentile(values, 1)).isEqualTo(30);
        assertThat(values).containsExactly(30, 10, 20);
    }

    @Test
    void of_an_even_number_of_runs_the_median_lies_in_the_middle_and_of_none_it_is_unknown() {
        assertThat(Statistics.median(List.of(4.0, 1.0), Double::doubleValue)).isEqualTo(2.5);
        assertThat(Statistics.median(List.<Double>of(), Double::doubleValue)).isNaN();
    }
}
