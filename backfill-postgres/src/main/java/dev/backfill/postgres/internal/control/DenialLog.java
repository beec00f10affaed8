package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Audits denials, each for itself while they are few, as one counted summary while they are a flood (AU-3): the table can't be filled
 * by somebody without a credential. The count is a summary of the past and decides nothing, so it may live in memory. Thread-safe.
 */
public final class DenialLog {

    private static final int EACH_FOR_ITSELF = 20;
    private static final long WINDOW = Duration.ofMinutes(1).toNanos();

    private long windowBegan = System.nanoTime();
    private int inWindow;
    private long unwritten;

    /** Records one; never throws, because a denial stands whatever becomes of its record. */
    void record(
            AuditTrail trail, Authority authority, String attempted, @Nullable String id, @Nullable String requestId) {
        if (admit()) {
            if (!flush(trail)) {
                // What can't be written now is counted, and not tried a second time while somebody waits.
                count(1);
                return;
            }
            // An ID that breaks the rule is left out: it could be anything.
            BackfillId named = id != null && BackfillId.isValid(id) ? BackfillId.of(id) : null;
            String request = requestId == null ? null : BoundedText.clean(requestId, 128);
            if (!trail.write(
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
    boolean flush(AuditTrail trail) {
        long count;
        synchronized (this) {
            count = unwritten;
            unwritten = 0;
        }
        if (count > 0
                && !trail.write(new AuditRecord(
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
}
