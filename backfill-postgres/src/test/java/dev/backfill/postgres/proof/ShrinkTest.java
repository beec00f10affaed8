package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShrinkTest {

    @Test
    void what_is_not_needed_for_the_failure_is_left_out() {
        List<Integer> input = IntStream.range(0, 30).boxed().toList();
        assertThat(Shrink.shrunk(input, left -> left.contains(7) && left.contains(23)))
                .containsExactly(7, 23);
        assertThat(Shrink.shrunk(input, left -> left.size() >= 4)).hasSize(4);
    }
}
