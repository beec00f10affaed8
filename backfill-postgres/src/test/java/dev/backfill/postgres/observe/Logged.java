package dev.backfill.postgres.observe;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Everything that the library logs, down to debug, while it is open. */
final class Logged extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final List<ILoggingEvent> lines = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.backfill");
    private final @Nullable Level before = logger.getLevel();

    Logged() {
        start();
        logger.setLevel(Level.DEBUG);
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent line) {
        lines.add(line);
    }

    /** Lines of an event that concern a process's own workers or IDs: tests may run beside each other. */
    List<ILoggingEvent> of(String event) {
        return lines.stream().filter(l -> event.equals(pairs(l).get("event"))).toList();
    }

    List<ILoggingEvent> all() {
        return List.copyOf(lines);
    }

    static Map<String, String> pairs(ILoggingEvent line) {
        return line.getKeyValuePairs() == null
                ? Map.of()
                : line.getKeyValuePairs().stream()
                        .collect(Collectors.toMap(p -> p.key, p -> String.valueOf(p.value), (a, b) -> b));
    }

    /** All that a line could show anybody: message, pairs, and the whole chain of what was thrown. */
    static String everything(ILoggingEvent line) {
        StringBuilder text = new StringBuilder(line.getFormattedMessage()).append(pairs(line));
        for (IThrowableProxy t = line.getThrowableProxy(); t != null; t = t.getCause()) {
            text.append(t.getClassName()).append(t.getMessage());
        }
        return text.toString();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(before);
        stop();
    }
}
