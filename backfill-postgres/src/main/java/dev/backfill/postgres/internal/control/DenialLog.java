package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Audits attempts that were turned away, each for itself while those of one name are few, and as one counted summary under that name
 * while they are a flood (AU-3): nobody can fill the table, and a flood of one name hides no attempt of another. The counts are
 * summaries of the past and decide nothing, so they may live in memory. Thread-safe.
 */
public final class DenialLog {

    private static final int EACH_FOR_ITSELF = 20;
    private static final int MOST_NAMES = 1_000;
    private static final int MOST_ACTION = 16;
    private static final long WINDOW = Duration.ofMinutes(1).toNanos();

    private final Map<String, Tally> tallies = new LinkedHashMap<>();

    /** What one name attempted of late; guarded by the log. */
    private static final class Tally {

        private final Authority authority;
        private long began = System.nanoTime();
        private int inWindow;
        private long unwritten;

        Tally(Authority authority) {
            this.authority = authority;
        }

        boolean isOver() {
            return System.nanoTime() - began > WINDOW;
        }
    }

    /** Records one; never throws, because the answer stands whatever becomes of its record. */
    void record(
            AuditTrail trail,
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId,
            AuditRecord.Outcome outcome) {
        if (!admit(authority)) {
            return;
        }
        if (!flush(trail)) {
            // What can't be written now is counted, and not tried a second time while somebody waits.
            count(authority, 1);
            return;
        }
        // An ID that breaks the rule is left out: it could be anything.
        BackfillId named = id != null && BackfillId.isValid(id) ? BackfillId.of(id) : null;
        String request = requestId == null ? null : BoundedText.clean(requestId, 128);
        String action = BoundedText.clean(attempted, MOST_ACTION);
        if (!trail.write(AuditRecord.of(authority, action, outcome)
                .about(named)
                .answering(request)
                .build())) {
            count(authority, 1);
        }
    }

    private synchronized boolean admit(Authority authority) {
        Tally tally = tally(authority);
        if (tally.isOver()) {
            tally.began = System.nanoTime();
            tally.inWindow = 0;
        }
        tally.inWindow++;
        if (tally.inWindow <= EACH_FOR_ITSELF) {
            return true;
        }
        tally.unwritten++;
        return false;
    }

    private synchronized Tally tally(Authority authority) {
        Tally known = tallies.get(authority.fingerprint());
        if (known != null) {
            return known;
        }
        if (tallies.size() >= MOST_NAMES) {
            tallies.values().removeIf(tally -> tally.isOver() && tally.unwritten == 0);
        }
        // Of more names than a deployment has operators, the rest share one tally that names nobody.
        Authority counted = tallies.size() < MOST_NAMES ? authority : Authority.anonymous();
        return tallies.computeIfAbsent(counted.fingerprint(), name -> new Tally(counted));
    }

    /** Writes the summaries of floods, if there were any; false if one could not be written. */
    boolean flush(AuditTrail trail) {
        for (Tally tally : floods()) {
            long count = taken(tally);
            String note = count + " further attempts were denied";
            if (count > 0
                    && !trail.write(AuditRecord.of(tally.authority, "any", AuditRecord.Outcome.DENIED_SUMMARY)
                            .note(note)
                            .build())) {
                count(tally.authority, count);
                return false;
            }
        }
        return true;
    }

    private synchronized List<Tally> floods() {
        return tallies.values().stream().filter(tally -> tally.unwritten > 0).toList();
    }

    private synchronized long taken(Tally tally) {
        long count = tally.unwritten;
        tally.unwritten = 0;
        return count;
    }

    private synchronized void count(Authority authority, long denials) {
        tally(authority).unwritten += denials;
    }
}
