package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pace names the limits it has; the others are none. */
class PacingTest {

    @Test
    void each_limit_keeps_those_before_it() {
        Pacing pacing = Pacing.unlimited()
                .pauseRatio(1.5)
                .rowsPerSecond(5_000)
                .walBytesPerSecond(9_007_199_254_740_993L)
                .targetBatchTime(Duration.ofMillis(200));
        assertThat(pacing.pauseRatio()).isEqualTo(1.5);
        assertThat(pacing.rowsPerSecond()).isEqualTo(5_000);
        assertThat(pacing.walBytesPerSecond()).isEqualTo(9_007_199_254_740_993L);
        assertThat(pacing.targetBatchTime()).isEqualTo(Duration.ofMillis(200));
        assertThat(Pacing.unlimited().rowsPerSecond()).isNull();
        assertThat(pacing)
                .isEqualTo(Pacing.unlimited()
                        .targetBatchTime(Duration.ofMillis(200))
                        .walBytesPerSecond(9_007_199_254_740_993L)
                        .rowsPerSecond(5_000)
                        .pauseRatio(1.5))
                .hasSameHashCodeAs(pacing.rowsPerSecond(5_000))
                .isNotEqualTo(Pacing.unlimited());
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 100.1, Double.NaN, Double.POSITIVE_INFINITY})
    void a_pause_out_of_range_is_refused(double ratio) {
        assertThatThrownBy(() -> Pacing.unlimited().pauseRatio(ratio))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("pauseRatio must be 0 to 100, got " + ratio);
    }

    @Test
    void a_limit_below_its_least_is_refused() {
        assertThatThrownBy(() -> Pacing.unlimited().rowsPerSecond(0)).hasMessageContaining("rowsPerSecond");
        assertThatThrownBy(() -> Pacing.unlimited().walBytesPerSecond(-1)).hasMessageContaining("walBytesPerSecond");
        assertThatThrownBy(() -> Pacing.unlimited().targetBatchTime(Duration.ofNanos(999_999)))
                .hasMessageContaining("targetBatchTime must be at least 1 ms");
        assertThatThrownBy(() -> Pacing.unlimited().targetBatchTime(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("targetBatchTime");
    }
}
