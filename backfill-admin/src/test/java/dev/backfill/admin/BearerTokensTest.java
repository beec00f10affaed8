package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import org.junit.jupiter.api.Test;

class BearerTokensTest {

    private final BearerTokens tokens = BearerTokens.builder()
            .operator("ana", "token-of-ana")
            .operator("ana", "next-token-of-ana")
            .reader("dashboard", "token-of-dashboard")
            .build();

    @Test
    void an_operator_may_see_and_steer_and_a_reader_may_only_see() { // AU-1
        assertThat(tokens.permits(Authority.operator("ana"), Capability.CONTROL))
                .isTrue();
        assertThat(tokens.permits(Authority.operator("ana"), Capability.READ)).isTrue();
        assertThat(tokens.permits(Authority.operator("dashboard"), Capability.READ))
                .isTrue();
        assertThat(tokens.permits(Authority.operator("dashboard"), Capability.CONTROL))
                .isFalse();
    }

    @Test
    void everybody_else_may_nothing_whatever_their_name() { // AU-1
        for (Capability capability : Capability.values()) {
            assertThat(tokens.permits(Authority.operator("eve"), capability)).isFalse();
            assertThat(tokens.permits(Authority.host("ana"), capability)).isFalse();
            assertThat(tokens.permits(Authority.anonymous(), capability)).isFalse();
            assertThat(tokens.permits(Authority.protectedNetwork(), capability)).isFalse();
        }
    }

    @Test
    void tokens_are_not_in_its_text_nor_in_its_errors() { // AU-5
        assertThat(tokens.toString()).contains("ana").doesNotContain("token-of");
        assertThatThrownBy(() -> BearerTokens.builder().operator("ana", "has a space"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ana")
                .hasMessageNotContaining("has a space");
        assertThatThrownBy(() -> BearerTokens.builder().operator("ana", "same").operator("ben", "same"))
                .hasMessageContaining("'ana' and 'ben' have the same token");
    }

    @Test
    void one_name_is_either_an_operator_or_a_reader() {
        assertThatThrownBy(() -> BearerTokens.builder().operator("ana", "a").reader("ana", "b"))
                .hasMessageContaining("use two names");
    }

    @Test
    void what_can_be_no_token_is_refused() {
        for (String bad : new String[] {"", "ä", "a\nb", "x".repeat(1_025)}) {
            assertThatThrownBy(() -> BearerTokens.builder().operator("ana", bad))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
