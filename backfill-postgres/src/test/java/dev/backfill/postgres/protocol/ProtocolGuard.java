package dev.backfill.postgres.protocol;

/** A guard of the protocol, with its name in {@code guards.txt}. */
enum ProtocolGuard {
    CLAIM_FREE("claim: nobody holds one"),
    FENCE_STATE("fence: state"),
    FENCE_GENERATION("fence: generation"),
    FENCE_TOKEN("fence: claim token"),
    FENCE_LEASE("fence: lease"),
    FENCE_CHECKPOINT("fence: the checkpoint that the batch began from"),
    BATCH_BARRIER("batch: behind the start barrier"),
    SETTLEMENT_TOKEN("settlement: generation and token"),
    SETTLEMENT_ROW("unknown commit: the row decides"),
    COMPLETION_STATE("completion: state"),
    COMPLETION_WORK("completion: no admitted work remains"),
    COMPLETION_TOKEN("completion: claim token"),
    COMPLETION_LEASE("completion: lease"),
    EXPLICIT_GENERATION("explicit completion: generation"),
    EXPLICIT_HISTORY("explicit completion: history"),
    PAUSE_GENERATION("pause: the generation rises"),
    READINESS_ROW("readiness: PostgreSQL decides each time"),
    REPLICA_HISTORY("truth: a position of another history tells nothing"),
    BARRIER_HISTORY("truth: a transaction ID of another history is not waited for");

    private final String listed;

    ProtocolGuard(String listed) {
        this.listed = listed;
    }

    String listed() {
        return listed;
    }
}
