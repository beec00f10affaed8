package dev.backfill.testkit;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Pace;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.ValidationReport;
import org.jspecify.annotations.Nullable;

/**
 * A stand-in for the operator plane, for tests of code that calls it. Override what the test needs; everything else says which method
 * was missing. It goes on compiling when {@link BackfillOperations} gains a method, which is why a double extends this and does not
 * implement the interface. What the engine itself does is tested with {@link BackfillHarness}.
 *
 * <p>As thread-safe as what is overridden.
 *
 * @since 0.1
 */
public abstract class OperationsDouble implements BackfillOperations {

    /** For subclasses. */
    protected OperationsDouble() {}

    private static UnsupportedOperationException missing(String method) {
        return new UnsupportedOperationException("The code under test called BackfillOperations." + method
                + "; override it in the test's OperationsDouble.");
    }

    @Override
    public Overview list(Authority authority) {
        throw missing("list");
    }

    @Override
    public BackfillSnapshot show(Authority authority, BackfillId id) {
        throw missing("show");
    }

    @Override
    public AuditRecord.Page audit(Authority authority, @Nullable BackfillId id, int limit, @Nullable Long before) {
        throw missing("audit");
    }

    @Override
    public Preflight preflight(Authority authority, BackfillId id) {
        throw missing("preflight");
    }

    @Override
    public Evidence evidence(Authority authority, BackfillId id) {
        throw missing("evidence");
    }

    @Override
    public Pace pace(Authority authority, BackfillId id) {
        throw missing("pace");
    }

    @Override
    public Pace.Outcome pace(OperatorRequest request, @Nullable Pacing pacing) {
        throw missing("pace");
    }

    @Override
    public Rehearsal.Outcome rehearse(OperatorRequest request) {
        throw missing("rehearse");
    }

    @Override
    public ActionOutcome start(OperatorRequest request) {
        throw missing("start");
    }

    @Override
    public ActionOutcome pause(OperatorRequest request) {
        throw missing("pause");
    }

    @Override
    public ActionOutcome resume(OperatorRequest request) {
        throw missing("resume");
    }

    @Override
    public ActionOutcome retry(OperatorRequest request) {
        throw missing("retry");
    }

    @Override
    public ValidationReport validate(OperatorRequest request) {
        throw missing("validate");
    }

    @Override
    public boolean authorize(
            Authority authority,
            Authority.Capability capability,
            String attempted,
            @Nullable String id,
            @Nullable String requestId) {
        throw missing("authorize");
    }

    @Override
    public void rejected(
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId,
            AuditRecord.Outcome outcome) {
        throw missing("rejected");
    }
}
