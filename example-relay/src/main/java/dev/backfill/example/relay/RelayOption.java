package dev.backfill.example.relay;

import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The options of the relay: {@code --name value}, or {@code RELAY_NAME} in the environment. The README lists the same table. */
enum RelayOption {
    JDBC_URL(
            null,
            OptionText::jdbcUrl,
            "database, with user and password as URL parameters; default: an embedded PostgreSQL"),
    DATA_DIR("./relay-data", OptionText::path, "where the embedded server keeps its files"),
    AUTO_MIGRATE("on", OptionText::onOff, "the schema switch"),
    AUTO_BACKFILL("on", OptionText::onOff, "the automatic-backfill switch"),
    PORT("8080", t -> OptionText.number(t, 0, 65_535), "ordinary serving; 0 for any free port"),
    ADMIN_PORT("8081", t -> OptionText.number(t, 0, 65_535), "the operator boundary; 0 for any free port"),
    ADMIN_TOKEN(
            null,
            OptionText::token,
            "bearer token of the operator 'demo', 8 to 200 visible ASCII characters; default: generated and printed once"),
    SEED_ROWS("200000", t -> OptionText.number(t, 0, 50_000_000), "events generated into an empty database"),
    WORKERS("1", t -> OptionText.number(t, 1, 64), "claim workers in this process"),
    LEASE("30s", OptionText::duration, "claim lease; the other time limits scale with it"),
    POLL("1s", OptionText::duration, "how often an idle worker looks"),
    BATCH_SIZE(
            null, t -> OptionText.number(t, 1, 100_000), "caps every definition's batch size; default: each one's own"),
    RETRY_BASE("1s", OptionText::duration, "first retry delay"),
    RETRY_CAP("60s", OptionText::duration, "longest retry delay"),
    MAX_ATTEMPTS("10", t -> OptionText.number(t, 1, 1_000), "claims without progress before a backfill fails"),
    BARRIER_TIMEOUT("5m", OptionText::duration, "how long the start barrier may wait"),
    VALIDATION_TIMEOUT("5m", OptionText::duration, "the longest a validation may take");

    private final @Nullable String byDefault;

    @SuppressWarnings("ImmutableEnumChecker") // method references without state
    private final Consumer<String> check;

    private final String meaning;

    RelayOption(@Nullable String byDefault, Consumer<String> check, String meaning) {
        this.byDefault = byDefault;
        this.check = check;
        this.meaning = meaning;
    }

    /** The name after the dashes. */
    String optionName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The name in the environment. */
    String environmentName() {
        return "RELAY_" + name();
    }

    Optional<String> byDefault() {
        return Optional.ofNullable(byDefault);
    }

    String meaning() {
        return meaning;
    }

    /** Throws an {@link OptionException} that names the option and the rule. */
    void check(String value) {
        try {
            check.accept(value);
        } catch (IllegalArgumentException e) {
            throw new OptionException("--" + optionName() + " " + e.getMessage());
        }
    }
}
