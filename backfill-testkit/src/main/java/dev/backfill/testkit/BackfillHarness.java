package dev.backfill.testkit;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.host.Backfills;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An engine that a test steps by hand: real, on a real database, without threads of its own unless asked for. Operator actions are
 * verbs, workers are stepped one transaction at a time, and what only time or a crash could bring about (a lease that expires, a
 * retry delay that passes, a worker that vanishes) is a verb too. Two harnesses on one database are two processes.
 *
 * <pre>{@code
 * try (BackfillHarness harness = BackfillHarness.on(database, definition)) {
 *     harness.start(definition.id());
 *     harness.worker("a").step();
 * }
 * }</pre>
 *
 * <p>Thread-safe, except that each worker belongs to one thread at a time.
 *
 * @since 0.1
 */
public final class BackfillHarness implements AutoCloseable {

    /** The operator whom a harness lets in, and as whom its verbs act. */
    public static final Authority OPERATOR = Authority.operator("test-operator");

    private final Backfills backfills;
    private final LibraryTables tables;
    private final List<HarnessWorker> workers = new ArrayList<>();
    private boolean closed;

    BackfillHarness(Backfills backfills, LibraryTables tables) {
        this.backfills = backfills;
        this.tables = tables;
    }

    /** An engine over a test database with these definitions and everything else by default. */
    public static BackfillHarness on(TestDatabase database, BackfillDefinition<?>... definitions) {
        return over(database).definitions(definitions).open();
    }

    /** Begins to configure an engine over a test database. */
    public static HarnessBuilder over(TestDatabase database) {
        return new HarnessBuilder(database);
    }

    /** The engine's handle. */
    public Backfills backfills() {
        requireOpen();
        return backfills;
    }

    /** The operator plane. */
    public BackfillOperations operations() {
        return backfills().operations();
    }

    /** Starts, with a new request ID. */
    public ActionOutcome start(BackfillId id) {
        return perform(BackfillAction.START, id);
    }

    /** Pauses, with a new request ID. */
    public ActionOutcome pause(BackfillId id) {
        return perform(BackfillAction.PAUSE, id);
    }

    /** Resumes, with a new request ID. */
    public ActionOutcome resume(BackfillId id) {
        return perform(BackfillAction.RESUME, id);
    }

    /** Retries, with a new request ID. */
    public ActionOutcome retry(BackfillId id) {
        return perform(BackfillAction.RETRY, id);
    }

    /** Validates explicitly, with a new request ID. */
    public ValidationReport validate(BackfillId id) {
        return operations().validate(request(id, newRequestId()));
    }

    /** Start, pause, resume or retry, with a new request ID. */
    public ActionOutcome perform(BackfillAction action, BackfillId id) {
        return perform(action, id, newRequestId());
    }

    /** Start, pause, resume or retry, with a request ID of the test's choice, for instance to repeat it. */
    public ActionOutcome perform(BackfillAction action, BackfillId id, String requestId) {
        return perform(operations(), action, request(id, requestId));
    }

    /**
     * Start, pause, resume or retry of any plane.
     *
     * @throws IllegalArgumentException for {@link BackfillAction#VALIDATE}, whose answer is a report
     */
    public static ActionOutcome perform(BackfillOperations operations, BackfillAction action, OperatorRequest request) {
        return switch (action) {
            case START -> operations.start(request);
            case PAUSE -> operations.pause(request);
            case RESUME -> operations.resume(request);
            case RETRY -> operations.retry(request);
            case VALIDATE -> throw new IllegalArgumentException("a validation is answered by a report: use validate");
        };
    }

    /** A request as {@link #OPERATOR}. */
    public static OperatorRequest request(BackfillId id, String requestId) {
        return new OperatorRequest(id, requestId, OPERATOR, null);
    }

    /** A request ID that was never used. */
    public static String newRequestId() {
        return "test-" + UUID.randomUUID();
    }

    /** What an operator sees. */
    public BackfillSnapshot show(BackfillId id) {
        return operations().show(OPERATOR, id);
    }

    /** The state in the row, past any projection. */
    public BackfillState state(BackfillId id) {
        return BackfillState.valueOf(String.valueOf(row(id).get("state")).toUpperCase(java.util.Locale.ROOT));
    }

    /** A worker that the test steps. */
    public HarnessWorker worker(String name) {
        requireOpen();
        HarnessWorker worker = new HarnessWorker(name, backfills.worker(name), this);
        synchronized (workers) {
            workers.add(worker);
        }
        return worker;
    }

    /**
     * Starts the backfill if it is pending and steps a worker until it is completed, whatever faults make it retry.
     *
     * @return what each step came to
     * @throws AssertionError if it ends otherwise or nothing moves, with the row in the message
     */
    public List<StepOutcome> runToCompletion(BackfillId id) {
        if (state(id) == BackfillState.PENDING) {
            start(id);
        }
        try (HarnessWorker worker = worker("harness")) {
            return new Run(this, worker, id).toCompletion();
        }
    }

    /** Every column of the row, by name, as PostgreSQL writes it. */
    public Map<String, @Nullable String> row(BackfillId id) {
        requireOpen();
        return tables.row(id);
    }

    /** Writes one column of the row behind the engine's back. */
    public void tamper(BackfillId id, String column, @Nullable String value) {
        requireOpen();
        tables.tamper(id, column, value);
    }

    /** Lets the lease of the current claim run out, as if its owner had stopped renewing. */
    public void expireLease(BackfillId id) {
        requireOpen();
        tables.expireLease(id);
    }

    /** Lets the retry delay pass. */
    public void clearRetryDelay(BackfillId id) {
        requireOpen();
        tables.clearRetryDelay(id);
    }

    /** Audit records of one backfill, oldest first, each with every column. */
    public List<Map<String, @Nullable String>> auditRecords(BackfillId id) {
        requireOpen();
        return tables.audit(id);
    }

    /** Ends the engine in order: open workers release their claims. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        List<HarnessWorker> open;
        synchronized (workers) {
            open = List.copyOf(workers);
        }
        open.forEach(HarnessWorker::close);
        closed = true;
        backfills.close();
    }

    void requireOpen() {
        if (closed) {
            throw new IllegalStateException(
                    "This harness was closed: its engine is gone. Do everything with it inside the try"
                            + " block, or open another one on the same database to see what a new process would do.");
        }
    }
}
