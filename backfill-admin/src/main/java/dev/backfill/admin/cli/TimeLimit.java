package dev.backfill.admin.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How long a command waits at most; null for as long as it takes. */
final class TimeLimit {

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            description = "Stop waiting after this time, such as 90s, 15m or 2h.",
            converter = DurationConverter.class)
    private @Nullable Duration timeout;

    @Nullable
    Duration value() {
        return timeout;
    }
}
