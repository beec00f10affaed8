package dev.backfill.example.relay;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.host.EngineOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The checked options of one relay process. Immutable; a relay that holds one can start with it. */
final class RelayOptions {

    private final Map<RelayOption, String> values;
    private final EngineOptions engine;

    private RelayOptions(Map<RelayOption, String> values) {
        this.values = new EnumMap<>(values);
        this.engine = engineOptions();
    }

    /**
     * Reads options; the command line wins over the environment, which wins over the defaults.
     *
     * @throws OptionException for an unknown option, a missing or an invalid value
     */
    static RelayOptions parse(List<String> arguments, Map<String, String> environment) {
        Map<RelayOption, String> values = new EnumMap<>(RelayOption.class);
        for (RelayOption option : RelayOption.values()) {
            option.byDefault().ifPresent(value -> values.put(option, value));
            String fromEnvironment = environment.get(option.environmentName());
            if (fromEnvironment != null && !fromEnvironment.isEmpty()) {
                values.put(option, fromEnvironment);
            }
        }
        readArguments(arguments.iterator(), values);
        values.forEach(RelayOption::check);
        return new RelayOptions(values);
    }

    private static void readArguments(Iterator<String> arguments, Map<RelayOption, String> into) {
        while (arguments.hasNext()) {
            String argument = arguments.next();
            int equals = argument.indexOf('=');
            RelayOption option = named(equals < 0 ? argument : argument.substring(0, equals));
            if (equals < 0 && !arguments.hasNext()) {
                throw new OptionException("--" + option.optionName() + " needs a value");
            }
            into.put(option, equals < 0 ? arguments.next() : argument.substring(equals + 1));
        }
    }

    private static RelayOption named(String argument) {
        return Arrays.stream(RelayOption.values())
                .filter(option -> argument.equals("--" + option.optionName()))
                .findFirst()
                .orElseThrow(() -> new OptionException(unknown(argument)));
    }

    private static String unknown(String argument) {
        // A stray value may be a secret, so that only what looks like an option's name is repeated.
        String shown = argument.matches("--[a-z-]{1,40}") ? " " + argument : "";
        return "unknown option" + shown + "; known are "
                + Arrays.stream(RelayOption.values())
                        .map(o -> "--" + o.optionName())
                        .collect(Collectors.joining(" "));
    }

    /** What {@code --help} prints. */
    static String help() {
        return Arrays.stream(RelayOption.values())
                .map(o -> String.format(
                        "  --%-20s %s%s%n",
                        o.optionName(),
                        o.meaning(),
                        o.byDefault().map(d -> " (" + d + ")").orElse("")))
                .collect(Collectors.joining("", "Options, each also as RELAY_NAME in the environment:\n", ""));
    }

    private EngineOptions engineOptions() {
        try {
            EngineOptions.Builder scaled = EngineOptions.builder().scaledToLease(duration(RelayOption.LEASE));
            Duration statement = duration(RelayOption.LEASE).dividedBy(6);
            // A slow answer within the statement's limit must never look like a dead connection.
            scaled.workerSocketTimeout(longer(Duration.ofSeconds(20), statement.multipliedBy(2)))
                    .workers(number(RelayOption.WORKERS))
                    .poll(duration(RelayOption.POLL))
                    .retryBase(duration(RelayOption.RETRY_BASE))
                    .retryCap(duration(RelayOption.RETRY_CAP))
                    .maxAttempts(number(RelayOption.MAX_ATTEMPTS))
                    .barrierTimeout(duration(RelayOption.BARRIER_TIMEOUT))
                    .validationTimeout(duration(RelayOption.VALIDATION_TIMEOUT))
                    // SIGTERM promises an exit within 10 s; the rest is for the listeners and the embedded server.
                    .closeTimeout(Duration.ofSeconds(5));
            if (values.containsKey(RelayOption.BATCH_SIZE)) {
                scaled.batchSizeCap(number(RelayOption.BATCH_SIZE));
            }
            return scaled.build();
        } catch (InvalidDefinitionException e) {
            throw new OptionException("the options contradict each other: " + e.getMessage());
        }
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    EngineOptions engine() {
        return engine;
    }

    Optional<String> jdbcUrl() {
        return Optional.ofNullable(values.get(RelayOption.JDBC_URL));
    }

    Path dataDir() {
        return OptionText.path(value(RelayOption.DATA_DIR));
    }

    boolean autoMigrate() {
        return OptionText.onOff(value(RelayOption.AUTO_MIGRATE));
    }

    boolean autoBackfill() {
        return OptionText.onOff(value(RelayOption.AUTO_BACKFILL));
    }

    int port() {
        return number(RelayOption.PORT);
    }

    int adminPort() {
        return number(RelayOption.ADMIN_PORT);
    }

    Optional<String> adminToken() {
        return Optional.ofNullable(values.get(RelayOption.ADMIN_TOKEN));
    }

    int seedRows() {
        return number(RelayOption.SEED_ROWS);
    }

    private int number(RelayOption option) {
        return OptionText.number(value(option), 0, Integer.MAX_VALUE);
    }

    private Duration duration(RelayOption option) {
        return OptionText.duration(value(option));
    }

    private String value(RelayOption option) {
        String value = values.get(option);
        if (value == null) {
            throw new OptionException("--" + option.optionName() + " needs a value");
        }
        return value;
    }
}
