package dev.backfill.admin;

import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Waiting;
import java.time.Instant;

/** A database at night: one backfill of every kind, and what operators did. */
final class Scene {

    private final ScriptedOperations plane;
    private long audited;

    Scene(ScriptedOperations plane) {
        this.plane = plane;
        moving();
        standing();
        String id = "events.thread-root.v1";
        audited("startup", id, "start", BackfillState.PENDING, BackfillState.RUNNING, null);
        audited(
                "ana",
                id,
                "pause",
                BackfillState.RUNNING,
                BackfillState.PAUSED,
                "Replica lag is at 40 s, let it catch up first");
        audited("ben", id, "resume", BackfillState.PAUSED, BackfillState.RUNNING, null);
        audited("ana", "channels.member-count.v1", "start", BackfillState.PENDING, BackfillState.RUNNING, null);
        audited("ana", "events.reply-depth.v1", "start", BackfillState.PENDING, BackfillState.RUNNING, null);
        plane.record(new AuditLine(
                99, Rows.T0.plusSeconds(900), null, "anonymous", id, null, "start", null, null, null, "denied", null));
    }

    private void moving() {
        plane.put(Rows.running("events.thread-root.v1").required());
        plane.put(Rows.pending("events.search-text.v2").described("Normalizes the text that search reads"));
        plane.put(Rows.running("events.mentions.v1")
                .described("Extracts mentions into their own table")
                .retryAt(Instant.now().plusSeconds(40), "contention", "A deadlock stopped the batch."));
        plane.put(
                Rows.running("events.empty-body.v1").progress(200_000, 200_000L).state(BackfillState.VALIDATING));
        plane.put(Rows.running("events.barrier.v1")
                .waiting(Waiting.Reason.START_BARRIER, "2 transactions older than the start, the oldest for 4 min"));
        plane.put(Rows.running("events.elsewhere.v9")
                .unknownHere()
                .waiting(Waiting.Reason.UNKNOWN_HERE, "no definition in this process"));
    }

    private void standing() {
        plane.put(Rows.running("channels.member-count.v1")
                .described("Rebuilds the member counters of every channel")
                .required()
                .diagnostic(
                        BackfillState.BLOCKED,
                        "data-error",
                        "A value does not fit the column member_count of channels, between id 88123 and 88123.",
                        "22003"));
        plane.put(Rows.running("communities.slug.v3").progress(5_000, null).state(BackfillState.PAUSED));
        Diagnostic rejected = new Diagnostic("validation-rejected", "412 rows are not repaired.", null, Rows.T0);
        plane.put(Rows.running("events.reply-depth.v1")
                .progress(200_000, 200_000L)
                .diagnostic(BackfillState.FAILED, rejected.code(), rejected.message(), null)
                .validation(ValidationDisposition.FAILURE, "console-1", rejected));
        plane.put(Rows.running("accounts.locale.v1")
                .progress(1_204_118, 1_204_118L)
                .state(BackfillState.COMPLETED)
                .validation(ValidationDisposition.SUCCESS, "cli-7", null));
    }

    private void audited(String who, String id, String action, BackfillState from, BackfillState to, String note) {
        audited++;
        plane.record(new AuditLine(
                audited,
                Rows.T0.plusSeconds(60 * audited),
                who,
                who.equals("startup") ? "startup" : "operator",
                id,
                "cli-" + audited,
                action,
                from.wireName(),
                to.wireName(),
                audited,
                "applied",
                note));
    }
}
