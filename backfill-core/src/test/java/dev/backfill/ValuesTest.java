package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.internal.BoundedText;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.spi.OperatorAuthorizer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {

    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "events.thread-root.v1", "a_b-c.d", "9._-"})
    void an_id_of_the_allowed_characters_is_accepted(String id) { // ID-8
        assertThat(BackfillId.of(id).value()).isEqualTo(id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".a", "-a", "_a", "A", "a b", "é", "a/b", "a\n", "a\0", "../etc"})
    void any_other_id_is_refused_with_the_rule(String id) { // ID-8
        assertThatThrownBy(() -> BackfillId.of(id))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("1 to 128 characters of a-z 0-9 . _ -, starting with a letter or digit");
    }

    @Test
    void an_id_is_bounded_at_128_characters() { // ID-8
        assertThat(BackfillId.of("a".repeat(128)).value()).hasSize(128);
        assertThatThrownBy(() -> BackfillId.of("a".repeat(129))).isInstanceOf(InvalidDefinitionException.class);
    }

    @Test
    void text_is_bounded_and_neutralized() { // AU-5
        assertThat(BoundedText.clean("a\nb\tc", 10)).isEqualTo("a b c");
        assertThat(BoundedText.clean("nul\0 esc\u001b bidi\u202e", 40)).isEqualTo("nul\uFFFD esc\uFFFD bidi\uFFFD");
        assertThat(BoundedText.clean("lone \ud800 high", 40)).isEqualTo("lone \uFFFD high");
        assertThat(BoundedText.clean("x".repeat(50), 10)).hasSize(10).endsWith("…");
        assertThat(BoundedText.clean("ten chars!", 10)).isEqualTo("ten chars!");
        String emoji = "😀".repeat(20);
        assertThat(BoundedText.clean(emoji, 10).length()).isLessThanOrEqualTo(10);
        assertThat(Character.isHighSurrogate(BoundedText.clean(emoji, 10)
                        .charAt(BoundedText.clean(emoji, 10).length() - 2)))
                .isFalse();
    }

    @Test
    void a_diagnostic_can_hold_neither_too_much_nor_a_made_up_sqlstate() { // AU-5
        Diagnostic diagnostic = new Diagnostic("data-error", "x".repeat(5_000), "drop table", null);
        assertThat(diagnostic.message()).hasSize(Diagnostic.MAX_MESSAGE);
        assertThat(diagnostic.sqlState()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "ü", "a\u007f"})
    void a_request_id_is_of_visible_ascii(String requestId) { // IK-2
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new OperatorRequest(BackfillId.of("a"), requestId, Authority.operator("o"), null));
    }

    @Test
    void the_fingerprint_tells_authorities_apart() { // IK-3
        assertThat(List.of(
                        Authority.operator("a").fingerprint(),
                        Authority.operator("b").fingerprint(),
                        Authority.host("a").fingerprint(),
                        Authority.protectedNetwork().fingerprint()))
                .doesNotHaveDuplicates();
    }

    @Test
    void nobody_is_allowed_anything_by_default() { // AU-1
        for (Capability capability : Capability.values()) {
            assertThat(OperatorAuthorizer.denyAll().permits(Authority.operator("root"), capability))
                    .isFalse();
        }
    }

    @Test
    void an_identifier_is_quoted_and_bounded() {
        assertThat(TableName.of("app.Events").quoted()).isEqualTo("\"app\".\"Events\"");
        assertThat(new TableName(null, "a.b\"c").quoted()).isEqualTo("\"a.b\"\"c\"");
        assertThatThrownBy(() -> TableName.of("t".repeat(64))).hasMessageContaining("1 to 63 bytes");
        assertThatThrownBy(() -> TableName.of("")).isInstanceOf(InvalidDefinitionException.class);
    }
}
