package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FamilyTest {

    private static BackfillDefinition<Long> whole(String id) {
        return Backfill.define(id)
                .describedAs("Doubles n")
                .over("items", Keys.bigint("id"))
                .label("team", "messaging")
                .batchSize(42)
                .requires("items", "n")
                .pacing(Pacing.unlimited())
                .shipsWithWritePath()
                .withoutStartBarrier()
                .repair(Repair.update().set("doubled", "n * 2"))
                .validate(Validation.noRowMatches("doubled IS NULL"))
                .build();
    }

    @Test
    void each_part_has_a_stable_id_and_knows_its_place() { // ID-1
        Family<Long> family = whole("items.v1").inRanges(100);
        assertThat(family.id()).isEqualTo(BackfillId.of("items.v1"));
        assertThat(family).hasSize(100);
        assertThat(family.parts().get(0).id().value()).isEqualTo("items.v1.00");
        assertThat(family.parts().get(99).id().value()).isEqualTo("items.v1.99");
        assertThat(family.parts().get(7).part()).contains(new Family.Part(family.id(), 7, 100));
        assertThat(whole("items.v1").part()).isEmpty();
    }

    @Test
    void a_part_is_the_whole_in_everything_but_its_id_and_its_range() {
        BackfillDefinition<Long> whole = whole("items.v1");
        for (BackfillDefinition<Long> part : whole.inRanges(2)) {
            assertThat(part)
                    .usingRecursiveComparison()
                    .ignoringFields("id", "part")
                    .isEqualTo(whole);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 1, 101, Integer.MAX_VALUE})
    void another_number_of_parts_is_refused(int parts) {
        assertThatThrownBy(() -> whole("items.v1").inRanges(parts))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("items.v1")
                .hasMessageContaining("2 to 100");
    }

    @Test
    void an_id_leaves_room_for_the_number_of_a_part() { // ID-8
        assertThat(whole("a".repeat(125)).inRanges(2).parts().get(1).id().value())
                .hasSize(128);
        assertThatThrownBy(() -> whole("a".repeat(126)).inRanges(2))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("125");
    }

    @Test
    void a_part_is_not_divided_again() {
        assertThatThrownBy(() -> whole("items.v1").inRanges(2).parts().get(0).inRanges(2))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("items.v1.00");
    }

    @Test
    void a_place_that_a_family_does_not_have_is_refused() {
        for (int index : new int[] {-1, 3}) {
            assertThatThrownBy(() -> new Family.Part(BackfillId.of("items.v1"), index, 3))
                    .isInstanceOf(InvalidDefinitionException.class);
        }
    }
}
