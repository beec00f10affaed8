package dev.backfill.postgres.internal.events;

import dev.backfill.spi.BackfillEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One structured line for each thing that an operator would ask about; what happens at every batch is at debug. What outsiders can
 * bring about as often as they like is told a limited number of times a minute and at debug beyond. Thread-safe.
 */
public final class EventLog {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final int DENIALS_A_MINUTE = 20;
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, Integer> thisMinute = new HashMap<>();
    private long minuteBegan = System.nanoTime();

    void write(BackfillEvent event, String detail, @Nullable String value) {
        LoggingEventBuilder line =
                LOG.atLevel(level(event)).addKeyValue("event", event.kind().wireName());
        if (event.id() != null) {
            line = line.addKeyValue("backfill", event.id().value());
        }
        if (event.generation() != 0) {
            line = line.addKeyValue("generation", event.generation());
        }
        line = with(line, actorKey(event), event.who());
        line = with(line, "code", event.code());
        line = with(line, "request_id", event.requestId());
        line = with(line, detail, value);
        if (event.took() != null) {
            line = line.addKeyValue("took_ms", event.took().toMillis());
        }
        if (event.kind() == BackfillEvent.Kind.BATCH_COMMITTED) {
            line = line.addKeyValue("scanned", event.rowsScanned()).addKeyValue("changed", event.rowsChanged());
        }
        line.log(sentence(event.kind()) + subject(event));
    }

    /** Of which backfill, in the message too: most layouts leave out key-value pairs. */
    private static String subject(BackfillEvent event) {
        if (event.id() == null) {
            return "";
        }
        return " (" + event.id() + (event.generation() == 0 ? ")" : ", generation " + event.generation() + ")");
    }

    private static LoggingEventBuilder with(LoggingEventBuilder line, String key, @Nullable String value) {
        return value == null ? line : line.addKeyValue(key, value);
    }

    private static String actorKey(BackfillEvent event) {
        return switch (event.kind()) {
            case OPERATOR_ACTION, ACCESS_DENIED, DIAGNOSTICS_READ -> "actor";
            default -> "owner";
        };
    }

    private Level level(BackfillEvent event) {
        return switch (event.kind()) {
            case BATCH_ATTEMPTED, BATCH_COMMITTED, RENEWED, NARROWED, VALIDATION_ATTEMPTED -> Level.DEBUG;
            case FENCED, BLOCKED, FAILED, TAKEN_OVER, SCHEMA_INCOMPATIBLE, COMMIT_SETTLED, RETRY_SCHEDULED ->
                Level.WARN;
            case CLAIMED,
                    RELEASED,
                    STOPPED,
                    VALIDATING,
                    VALIDATED,
                    COMPLETED,
                    OPERATOR_ACTION,
                    THROTTLED,
                    BARRIER_WAIT,
                    UNKNOWN_HERE -> Level.INFO;
            case ACCESS_DENIED -> isWithin("denied", DENIALS_A_MINUTE) ? Level.WARN : Level.DEBUG;
            // A console that is open asks every few seconds.
            case DIAGNOSTICS_READ ->
                isWithin(event.who() + " " + event.code() + " " + event.id(), 1) ? Level.INFO : Level.DEBUG;
        };
    }

    private synchronized boolean isWithin(String what, int limit) {
        if (System.nanoTime() - minuteBegan > MINUTE) {
            minuteBegan = System.nanoTime();
            thisMinute.clear();
        }
        return thisMinute.merge(what, 1, Integer::sum) <= limit;
    }

    private static String sentence(BackfillEvent.Kind kind) {
        return switch (kind) {
            case CLAIMED -> "Claimed a backfill";
            case TAKEN_OVER -> "Took over an expired claim";
            case RENEWED -> "Renewed a claim";
            case RELEASED -> "Released a claim";
            case BATCH_ATTEMPTED -> "A batch began";
            case BATCH_COMMITTED -> "A batch committed";
            case FENCED -> "A stale owner's work was rejected; nothing of it was committed";
            case STOPPED -> "An operator moved the backfill on; what was under way was rolled back";
            case RETRY_SCHEDULED -> "An attempt failed; a retry is scheduled";
            case NARROWED -> "A window failed; a smaller one is tried";
            case BLOCKED -> "A backfill is blocked and needs an operator";
            case FAILED -> "A backfill has failed and needs an operator";
            case VALIDATING -> "The checkpoint reached the bound; validation is next";
            case VALIDATION_ATTEMPTED -> "A validation began";
            case VALIDATED -> "A validation ran";
            case COMPLETED -> "A backfill is completed";
            case THROTTLED -> "A backfill is slowed down";
            case BARRIER_WAIT -> "A backfill waits for transactions from before its start";
            case SCHEMA_INCOMPATIBLE -> "A backfill is not claimed: what its definition needs is missing";
            case UNKNOWN_HERE -> "A backfill is left alone: this process can't read it";
            case COMMIT_SETTLED -> "The unknown outcome of a COMMIT was settled from the row";
            case OPERATOR_ACTION -> "An operator's request was answered";
            case ACCESS_DENIED -> "Access to backfills was denied";
            case DIAGNOSTICS_READ -> "Backfill diagnostics were read";
        };
    }
}
