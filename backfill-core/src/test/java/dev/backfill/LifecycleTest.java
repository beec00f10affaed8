package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class LifecycleTest {

    private static final Pattern ARROW = Pattern.compile("^ *([a-z]+) --> ([a-z]+):", Pattern.MULTILINE);

    @Test
    void the_drawn_lifecycle_is_the_one_of_the_code() throws IOException { // LC-1
        Map<BackfillState, Set<BackfillState>> drawn = arrows(Path.of("..", "docs", "lifecycle.md"));
        for (BackfillState state : BackfillState.values()) {
            assertThat(drawn.getOrDefault(state, Set.of()))
                    .as("moves out of %s", state)
                    .isEqualTo(state.next());
        }
    }

    @Test
    void the_small_drawing_of_the_readme_shows_only_legal_moves() throws IOException { // LC-1
        Map<BackfillState, Set<BackfillState>> drawn = arrows(Path.of("..", "README.md"));
        assertThat(drawn).isNotEmpty();
        drawn.forEach((from, to) ->
                assertThat(from.next()).as("moves out of %s", from).containsAll(to));
    }

    private static Map<BackfillState, Set<BackfillState>> arrows(Path document) throws IOException {
        Map<BackfillState, Set<BackfillState>> drawn = new EnumMap<>(BackfillState.class);
        Matcher arrow = ARROW.matcher(Files.readString(document));
        while (arrow.find()) {
            drawn.computeIfAbsent(BackfillState.ofWireName(arrow.group(1)), s -> EnumSet.noneOf(BackfillState.class))
                    .add(BackfillState.ofWireName(arrow.group(2)));
        }
        return drawn;
    }

    @Test
    void nothing_leaves_completed_and_nothing_chooses_it() { // LC-3, IK-1
        assertThat(BackfillState.COMPLETED.next()).isEmpty();
        assertThat(BackfillState.COMPLETED.sources()).containsExactly(BackfillState.VALIDATING);
        for (BackfillAction action : BackfillAction.values()) {
            assertThat(action.convergedOn()).doesNotContain(BackfillState.COMPLETED);
        }
        assertThat(BackfillAction.legalFrom(BackfillState.COMPLETED)).containsExactly(BackfillAction.VALIDATE);
    }

    @Test
    void sources_are_the_inverse_of_moves() { // LC-2
        for (BackfillState from : BackfillState.values()) {
            for (BackfillState to : BackfillState.values()) {
                assertThat(to.sources().contains(from)).isEqualTo(from.next().contains(to));
            }
        }
    }

    @Test
    void an_action_applies_only_where_the_machine_allows_its_move() { // LC-2
        for (BackfillAction action : EnumSet.complementOf(EnumSet.of(BackfillAction.VALIDATE))) {
            for (BackfillState from : action.appliesFrom()) {
                assertThat(from.next()).containsAnyElementsOf(action.convergedOn());
            }
        }
    }

    @Test
    void there_is_no_other_action() { // IK-1
        assertThat(BackfillAction.values())
                .extracting(BackfillAction::wireName)
                .containsExactly("start", "pause", "resume", "retry", "validate");
    }
}
