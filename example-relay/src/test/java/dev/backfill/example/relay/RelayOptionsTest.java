package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RelayOptionsTest {

    private static RelayOptions parse(String... arguments) {
        return RelayOptions.parse(List.of(arguments), Map.of());
    }

    @Test
    void without_arguments_everything_has_its_documented_default() {
        RelayOptions options = parse();
        assertThat(options.jdbcUrl()).isEmpty();
        assertThat(options.adminToken()).isEmpty();
        assertThat(options.dataDir()).endsWithRaw(java.nio.file.Path.of("relay-data"));
        assertThat(options.autoMigrate()).isTrue();
        assertThat(options.autoBackfill()).isTrue();
        assertThat(options.port()).isEqualTo(8080);
        assertThat(options.adminPort()).isEqualTo(8081);
        assertThat(options.seedRows()).isEqualTo(200_000);
        assertThat(options.engine().workers()).isEqualTo(1);
        assertThat(options.engine().lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.engine().poll()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.engine().retryBase()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.engine().retryCap()).isEqualTo(Duration.ofSeconds(60));
        assertThat(options.engine().maxAttempts()).isEqualTo(10);
        assertThat(options.engine().barrierTimeout()).isEqualTo(Duration.ofMinutes(5));
        assertThat(options.engine().validationTimeout()).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void a_value_follows_its_name_or_an_equals_sign() {
        RelayOptions options = parse("--port", "9000", "--workers=4", "--auto-migrate=off");
        assertThat(options.port()).isEqualTo(9000);
        assertThat(options.engine().workers()).isEqualTo(4);
        assertThat(options.autoMigrate()).isFalse();
    }

    @Test
    void the_command_line_wins_over_the_environment_and_that_over_the_default() {
        Map<String, String> environment = Map.of("RELAY_PORT", "9001", "RELAY_AUTO_BACKFILL", "off", "RELAY_LEASE", "");
        RelayOptions options = RelayOptions.parse(List.of("--port", "9002"), environment);
        assertThat(options.port()).isEqualTo(9002);
        assertThat(options.autoBackfill()).isFalse();
        assertThat(options.engine().lease()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void the_lease_scales_the_time_limits_that_must_fit_into_it() {
        assertThat(parse("--lease", "3s").engine().transactionTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(parse("--lease", "3s").engine().statementTimeout()).isEqualTo(Duration.ofMillis(500));
        assertThat(parse("--lease", "3s").engine().lockTimeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(parse("--lease", "10m").engine().statementTimeout()).isEqualTo(Duration.ofSeconds(100));
    }

    @ParameterizedTest
    @CsvSource({"250ms,250", "3s,3000", "1m,60000", "2h,7200000"})
    void durations_carry_their_unit(String text, long millis) {
        assertThat(OptionText.duration(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"3", "3 s", "1.5s", "-1s", "s", "", "99999999999s"})
    void a_duration_without_a_unit_or_whole_number_is_refused_with_the_rule(String text) {
        assertThatThrownBy(() -> parse("--poll", text))
                .isInstanceOf(OptionException.class)
                .hasMessageStartingWith("--poll must be a duration such as 250ms, 3s or 1m");
    }

    @ParameterizedTest
    @CsvSource({
        "--port,65536,whole number from 0 to 65535",
        "--port,http,whole number from 0 to 65535",
        "--workers,0,whole number from 1 to 64",
        "--batch-size,100001,whole number from 1 to 100000",
        "--seed-rows,-1,whole number from 0 to 50000000",
        "--auto-migrate,true,must be on or off",
        "--auto-backfill,ON,must be on or off"
    })
    void a_value_out_of_range_is_refused_with_name_and_rule(String name, String value, String rule) {
        assertThatThrownBy(() -> parse(name, value))
                .isInstanceOf(OptionException.class)
                .hasMessageStartingWith(name)
                .hasMessageContaining(rule)
                .hasMessageContaining(value);
    }

    @Test
    void an_unknown_option_is_refused_and_the_known_ones_are_listed() {
        assertThatThrownBy(() -> parse("--prot", "1"))
                .hasMessageContaining("unknown option --prot")
                .hasMessageContaining("--port");
    }

    @Test
    void an_option_without_a_value_is_refused() {
        assertThatThrownBy(() -> parse("--port")).hasMessage("--port needs a value");
    }

    @Test
    void options_that_contradict_each_other_are_refused_with_the_rule() {
        assertThatThrownBy(() -> parse("--lease", "1s"))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("statement");
        assertThatThrownBy(() -> parse("--retry-base", "2m"))
                .isInstanceOf(OptionException.class)
                .hasMessageContaining("retryCap");
    }

    @Test
    void no_message_repeats_a_secret() { // AU-5
        assertThatThrownBy(() -> parse("--jdbc-url", "postgres://h/d?password=hunter2"))
                .message()
                .doesNotContain("hunter2");
        assertThatThrownBy(() -> parse("--admin-token", "hunter 2")).message().doesNotContain("hunter");
        assertThatThrownBy(() -> parse("hunter2")).message().doesNotContain("hunter2");
        assertThatThrownBy(() -> parse("--hunter2=1")).message().doesNotContain("hunter2");
    }

    @Test
    void help_names_every_option() {
        for (RelayOption option : RelayOption.values()) {
            assertThat(RelayOptions.help()).contains("--" + option.optionName());
        }
    }
}
