package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audits denials, each for itself while they are few, as one counted summary while they are a flood (AU-3): the table can't be filled
 * by somebody without a credential. The count is a summary of the past and decides nothing, so it may live in memory. Thread-safe.
 */
public final class DenialLog {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final int EACH_FOR_ITSELF = 20;
    private static final long WINDOW = Duration.ofMinutes(1).toNanos();

    private long windowBegan = System.nanoTime();
    private int inWindow;
    private long unwritten;

    /** Records one; never throws, because a denial stands whatever becomes of its record. */
    void record(
            EngineContext engine,
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId) {
        if (admit()) {
            if (!flush(engine)) {
                // What can't be written now is counted, and not tried a second time while somebody waits.
                count(1);
                return;
            }
            // An ID that breaks the rule is left out: it could be anything.
            BackfillId named = id != null && BackfillId.isValid(id) ? BackfillId.of(id) : null;
            String request = requestId == null ? null : BoundedText.clean(requestId, 128);
            if (!write(
                    engine,
                    new AuditRecord(authority, named, request, cut(attempted), null, null, null, "denied", null))) {
                count(1);
            }
        }
    }

    private static String cut(String attempted) {
        return BoundedText.clean(attempted, 16);
    }

    private synchronized boolean admit() {
        if (System.nanoTime() - windowBegan > WINDOW) {
            windowBegan = System.nanoTime();
            inWindow = 0;
        }
        inWindow++;
        if (inWindow <= EACH_FOR_ITSELF) {
            return true;
        }
        unwritten++;
        return false;
    }

    /** Writes the summary of a flood, if there was one; false if it could not be written. */
    boolean flush(EngineContext engine) {
        long count;
        synchronized (this) {
            count = unwritten;
            unwritten = 0;
        }
        if (count > 0
                && !write(
                        engine,
                        new AuditRecord(
                                Authority.anonymous(),
                                null,
                                null,
                                "any",
                                null,
                                null,
                                null,
                                "denied_summary",
                                count + " further attempts were denied"))) {
            count(count);
            return false;
        }
        return true;
    }

    private synchronized void count(long denials) {
        unwritten += denials;
    }

    private static boolean write(EngineContext engine, AuditRecord entry) {
        try {
            engine.control().inTransaction(session -> {
                engine.sql().audit().write(session, entry);
                return true;
            });
            return true;
        } catch (SQLException e) {
            LOG.atWarn().log("A denial could not be written to the audit");
            return false;
        }
    }
}
