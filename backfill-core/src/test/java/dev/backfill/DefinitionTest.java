package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.EngineOptions;
import java.time.Duration;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DefinitionTest {

    private static BackfillDefinition.Builder<Long> some() {
        return Backfill.define("some").over("t", Keys.bigint("id"));
    }

    @Test
    void the_common_case_is_short_and_has_sound_defaults() {
        BackfillDefinition<Long> definition = some().repair(Repair.update().set("c", "1"))
                .validate(Validation.noRowMatches("c IS NULL"))
                .build();
        assertThat(definition.batchSize()).isEqualTo(1_000);
        assertThat(definition.startBarrier()).isTrue(); // SR-6
        assertThat(definition.shipsWithWritePath()).isFalse();
        assertThat(definition.key().codec()).isEqualTo("v1:bigint"); // SR-4
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 100_001, Integer.MAX_VALUE})
    void a_batch_size_out_of_range_names_the_range(int size) { // BB-1
        assertThatThrownBy(() -> some().batchSize(size))
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("1 to 100000")
                .hasMessageContaining(Integer.toString(size));
    }

    @Test
    void what_is_missing_or_doubled_is_said() { // VA-3
        assertThatThrownBy(() -> some().validate(Validation.noRowMatches("x")).build())
                .hasMessageContaining("no repair");
        assertThatThrownBy(() -> some().repair(Repair.update().set("c", "1")).build())
                .hasMessageContaining("no validation");
        assertThatThrownBy(() -> some().repair(Repair.update().set("c", "1"))
                        .repair(Repair.update().set("c", "1")))
                .hasMessageContaining("two repairs");
        assertThatThrownBy(
                        () -> Repair.rows().reading("a").writing("c", row -> 1).writing("c", row -> 2))
                .hasMessageContaining("column c twice");
        assertThatThrownBy(() -> some().repair(Repair.update().set("id", "1"))
                        .validate(Validation.noRowMatches("x"))
                        .build())
                .hasMessageContaining("key column 'id'"); // SR-2
        assertThatThrownBy(() -> Repair.update().set("c", " ")).hasMessageContaining("set c");
    }

    @Test
    void a_compound_key_has_distinct_columns_and_a_codec_of_all() { // SR-2, SR-4
        KeyType<CompoundKey> key = Keys.compound(Keys.timestamptz("at"), Keys.uuid("id"));
        assertThat(key.codec()).isEqualTo("v1:(timestamptz,uuid)");
        assertThat(Keys.text("name", "en-x-icu").codec()).isEqualTo("v1:text:en-x-icu");
        assertThatThrownBy(() -> Keys.compound(Keys.bigint("a"), Keys.uuid("a")))
                .hasMessageContaining("once");
        UUID id = UUID.fromString("ffffffff-0000-0000-0000-000000000000");
        CompoundKey decoded = key.decode(List.of("2024-01-01 00:00:00.123456+00", id.toString()));
        assertThat(decoded.part(0, OffsetDateTime.class)).isEqualTo("2024-01-01T00:00:00.123456Z");
        assertThat(decoded.part(1, UUID.class)).isEqualTo(id);
    }

    @Test
    void extremes_decode_without_loss() { // SR-4
        assertThat(Keys.bigint("a").decode(List.of("-9223372036854775808"))).isEqualTo(Long.MIN_VALUE);
        assertThat(Keys.timestamptz("a").decode(List.of("infinity"))).isEqualTo(OffsetDateTime.MAX);
        assertThat(Keys.timestamptz("a").decode(List.of("-infinity"))).isEqualTo(OffsetDateTime.MIN);
        assertThat(Keys.timestamptz("a").decode(List.of("2024-01-01 00:00:00+00")))
                .isEqualTo("2024-01-01T00:00:00Z");
        assertThat(Keys.date("a").decode(List.of("0044-03-15 BC"))).isEqualTo(LocalDate.of(-43, 3, 15));
        assertThat(Keys.numeric("a").decode(List.of("1.00")).scale()).isEqualTo(2);
        assertThatThrownBy(() -> Keys.numeric("a").decode(List.of("NaN")))
                .isInstanceOf(BackfillException.class)
                .hasMessageContaining("no Java value");
    }

    @Test
    void a_lease_too_short_for_its_transactions_is_refused_with_both_figures() { // BB-2, CL-4
        assertThatThrownBy(() ->
                        EngineOptions.builder().lease(Duration.ofSeconds(15)).build())
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("PT20S")
                .hasMessageContaining("PT15S");
        assertThatThrownBy(() -> EngineOptions.builder()
                        .lockTimeout(Duration.ofSeconds(2))
                        .build())
                .hasMessageContaining("deadlock timeout");
        assertThatThrownBy(() -> EngineOptions.builder().workers(65)).hasMessageContaining("0 to 64");
    }

    @Test
    void a_short_lease_scales_what_must_fit_into_it() {
        EngineOptions options =
                EngineOptions.builder().scaledToLease(Duration.ofSeconds(3)).build();
        assertThat(options.workerSocketTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(options.transactionTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.statementTimeout()).isEqualTo(Duration.ofMillis(500));
        assertThat(options.lockTimeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(options.idleInTransactionTimeout()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void a_long_lease_scales_what_a_worker_waits_for_the_server() {
        EngineOptions options =
                EngineOptions.builder().scaledToLease(Duration.ofMinutes(6)).build();
        assertThat(options.statementTimeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(options.workerSocketTimeout()).isEqualTo(Duration.ofMinutes(2));
    }
}
