package dev.backfill.postgres.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The protocol, explored to the end: every interleaving of two workers, an operator, a validation, lost answers, crashes, a lease that
 * runs out and a failover that takes back up to two commits, over two rows.
 */
class ProtocolTest {

    /** The database refuses what these refuse by another guard as well: alone, none of them can be missed. */
    private static final List<Set<ProtocolGuard>> MASKED = List.of(
            EnumSet.of(ProtocolGuard.FENCE_STATE, ProtocolGuard.FENCE_GENERATION, ProtocolGuard.FENCE_TOKEN),
            EnumSet.of(ProtocolGuard.COMPLETION_STATE, ProtocolGuard.COMPLETION_WORK));

    @ParameterizedTest
    @EnumSource(World.Scope.class)
    void no_interleaving_breaks_a_promise(World.Scope scope) { // AT-3, CL-1, CL-2, CL-3, CF-2, SC-6, SR-6, VA-3
        Explorer explorer = new Explorer(scope, EnumSet.noneOf(ProtocolGuard.class));
        assertThat(explorer.counterexample()).isEmpty();
        assertThat(explorer.states()).as("states seen").isGreaterThan(10_000);
    }

    @ParameterizedTest
    @MethodSource("guards")
    void without_a_guard_an_interleaving_breaks_a_promise(Set<ProtocolGuard> off) {
        assertThat(Stream.of(World.Scope.values()).flatMap(scope -> new Explorer(scope, off).counterexample().stream()))
                .as("without %s", off)
                .isNotEmpty();
    }

    static Stream<Set<ProtocolGuard>> guards() {
        Set<ProtocolGuard> alone = EnumSet.allOf(ProtocolGuard.class);
        MASKED.forEach(alone::removeAll);
        return Stream.concat(alone.stream().map(EnumSet::of), MASKED.stream());
    }

    @Test
    void each_guard_stands_in_the_list_of_guards() throws IOException {
        String list = Files.readString(Path.of("src/test/resources/dev/backfill/postgres/sabotage/guards.txt"));
        for (ProtocolGuard guard : ProtocolGuard.values()) {
            assertThat(list).contains("guard: " + guard.listed() + "\n");
        }
    }
}
