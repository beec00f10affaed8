package dev.backfill.postgres.proof.sabotage;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Takes guards away and demands that their tests turn red. Three a day, other ones each day; {@code -Dsabotage=all} tries them all,
 * {@code -Dsabotage=5,17} those lines of the list. See {@code docs/sabotage.md}.
 */
class SabotageIT {

    private static final int SAMPLE = 3;

    static Stream<Sabotage> chosen() {
        List<Sabotage> all = Sabotage.all();
        String asked = System.getProperty("sabotage", "");
        if (asked.equals("all")) {
            return all.stream();
        }
        if (!asked.isEmpty()) {
            return Stream.of(asked.split(",")).map(number -> all.get(Integer.parseInt(number.strip()) - 1));
        }
        List<Sabotage> shuffled = new ArrayList<>(all);
        // The day and not the build decides, so that a red build stays red when it is repeated.
        Collections.shuffle(shuffled, new Random(LocalDate.now(java.time.ZoneOffset.UTC).toEpochDay()));
        return shuffled.stream().limit(SAMPLE);
    }

    @ParameterizedTest
    @MethodSource("chosen")
    void without_its_guard_the_test_turns_red(Sabotage sabotage, @TempDir Path work) throws Exception { // CT
        int outcome = sabotage.run(work);
        System.out.println((outcome == 1 ? "killed   " : outcome == 0 ? "SURVIVED " : "NOT RUN  ") + sabotage);
        assertThat(outcome)
                .as("%s: 1 is a red %s, 0 a green one, 2 none at all", sabotage, sabotage.killer())
                .isEqualTo(1);
    }

    @Test
    void each_guard_of_the_list_is_where_it_says() throws Exception {
        List<Sabotage> all = Sabotage.all();
        assertThat(all).hasSizeGreaterThanOrEqualTo(30);
        for (Sabotage sabotage : all) {
            assertThat(sabotage.edited()).isNotEmpty();
            Class<?> killer = Class.forName("dev.backfill.postgres.proof." + sabotage.killer().split("#")[0]);
            assertThat(Stream.of(killer.getDeclaredMethods()).map(java.lang.reflect.Method::getName))
                    .as(sabotage.toString())
                    .contains(sabotage.killer().split("#")[1]);
        }
    }
}
