package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.preflight.IndexWalk;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.ClaimSql.Candidate;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.Target;
import dev.backfill.postgres.internal.supervise.Supervisor;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Claims one candidate in a transaction of the caller's, unless its attempts are exhausted (RB-5), its schema is missing (CF-8), or a
 * thread of this process does not come back from its code (BB-2). Thread-safe.
 *
 * @param claims the statements
 * @param recorder ends what has no attempt left
 * @param registry this process's definitions
 * @param supervisor knows from whose code threads do not come back
 * @param names the library's tables
 * @param options lease and attempts
 */
public record CandidateClaim(
        ClaimSql claims,
        FailureRecorder recorder,
        Registry registry,
        Supervisor supervisor,
        Names names,
        EngineOptions options) {

    /**
     * What came of one candidate.
     *
     * @param held the claim, or null
     * @param event what is to be published once it is durable; null for nothing
     * @param detail what only the log is told
     * @param value of the detail, or null
     */
    record Tried(
            @Nullable HeldClaim held,
            @Nullable BackfillEvent event,
            String detail,
            @Nullable String value) {
        static final Tried NOTHING = new Tried(null, null, "", null);
    }

    Tried attempt(Session session, Candidate candidate, String owner) throws SQLException {
        if (candidate.attempts() >= options.maxAttempts()) {
            return new Tried(null, recorder.exhaust(session, candidate), "", null);
        }
        if (supervisor.isStuck(BackfillId.of(candidate.id()))) {
            // The next thread would not come back either.
            return Tried.NOTHING;
        }
        BackfillDefinition<?> definition = registry.find(candidate.id()).orElseThrow();
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null || !check.passed()) {
            return incompatible(session, definition, check.all().get(0));
        }
        Optional<Target> target = Target.resolve(session, definition.table());
        if (target.isEmpty()) {
            return Tried.NOTHING; // dropped just now: the next look says so
        }
        Target pinned = candidate.target().orElse(target.get());
        if (!target.get().isThat(pinned)) {
            String why = Target.changed(pinned, target.get());
            return incompatible(session, definition, new Finding(Finding.Code.TARGET_CHANGED, pinned.toString(), why));
        }
        Optional<Claim> claim = claims.acquire(
                session, List.of(candidate.id()), target.get(), owner, options.lease(), options.maxAttempts());
        return claim.isEmpty()
                ? Tried.NOTHING
                : acquired(claim.get(), prepared(session, claim.get(), definition, facts), candidate);
    }

    private PreparedDefinition prepared(
            Session session, Claim claim, BackfillDefinition<?> definition, TableFacts facts) throws SQLException {
        PreparedDefinition prepared = PreparedDefinition.of(names, options, definition, facts);
        return IndexWalk.serves(session, prepared, claim)
                ? PreparedDefinition.of(names, options, definition, facts, true)
                : prepared;
    }

    private Tried incompatible(Session session, BackfillDefinition<?> definition, Finding first) throws SQLException {
        claims.annotate(session, definition.id().value(), "schema", first.message());
        BackfillEvent event = BackfillEvent.of(
                BackfillEvent.Kind.SCHEMA_INCOMPATIBLE,
                definition.id(),
                0,
                first.code().wireName());
        return new Tried(null, event, "subject", first.subject());
    }

    /** A missing schema was never anybody's reason to give a claim back. */
    private static @Nullable String waitedFor(Candidate candidate) {
        return "schema".equals(candidate.waitedFor()) ? null : candidate.waitedFor();
    }

    private static Tried acquired(Claim claim, PreparedDefinition prepared, Candidate candidate) {
        BackfillEvent.Kind kind = claim.takenOver() ? BackfillEvent.Kind.TAKEN_OVER : BackfillEvent.Kind.CLAIMED;
        return new Tried(
                new HeldClaim(claim, prepared, System.nanoTime()),
                Events.about(kind, claim, waitedFor(candidate)),
                "former_owner",
                claim.takenOver() ? candidate.lostOwner() : null);
    }
}
