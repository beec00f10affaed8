package dev.backfill.postgres.internal.engine;

import dev.backfill.AuditRecord;
import dev.backfill.Authority;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillEvent;
import dev.backfill.BackfillId;
import dev.backfill.BackfillState;
import dev.backfill.Diagnostic;
import dev.backfill.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.schema.SchemaCheck;
import dev.backfill.postgres.internal.schema.TableFacts;
import dev.backfill.postgres.internal.store.Claim;
import dev.backfill.postgres.internal.store.ClaimSql;
import dev.backfill.postgres.internal.store.ClaimSql.Candidate;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds work: looks without a lock, leaves alone what this process can't safely read (ID-5) or whose schema is missing (CF-8), and
 * claims one of the rest. Thread-safe.
 *
 * @param engine what the parts share
 */
record Claimer(EngineContext engine) {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    /** Claims for an owner; empty when there is nothing to claim. */
    Optional<Held> claim(String owner) throws SQLException {
        List<Candidate> candidates = engine.control().inTransaction(this::look);
        SQLException first = null;
        for (Candidate candidate : candidates) {
            try {
                Optional<Held> held = claim(candidate, owner);
                if (held.isPresent()) {
                    return held;
                }
            } catch (SQLException e) {
                if (SqlFailure.of(e) == SqlFailure.INFRASTRUCTURE) {
                    throw e;
                }
                // One that can't be claimed or ended, for want of its audit record for instance, must not hold up the others.
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
        return Optional.empty();
    }

    private Optional<Held> claim(Candidate candidate, String owner) throws SQLException {
        if (candidate.attempts() >= engine.options().maxAttempts()) {
            exhaust(candidate);
            return Optional.empty();
        }
        Optional<Held> held = engine.control().inTransaction(s -> claim(s, candidate, owner));
        held.ifPresent(h -> announce(h.claim(), candidate));
        return held;
    }

    private List<Candidate> look(Session session) throws SQLException {
        List<Candidate> found = engine.sql().claims().look(session, null);
        List<Candidate> readable = found.stream().filter(this::isReadable).toList();
        if (readable.isEmpty() && ClaimSql.wasCut(found)) {
            // Rows of others fill the look: ask for this process's own.
            readable = engine.sql().claims().look(session, engine.registry().ids()).stream()
                    .filter(this::isReadable)
                    .toList();
        }
        return readable;
    }

    private boolean isReadable(Candidate candidate) {
        boolean readable =
                ClaimSql.isReadable(candidate) && engine.registry().canRead(candidate.id(), candidate.keyCodec());
        if (!readable) {
            String why = !ClaimSql.isReadable(candidate)
                    ? "its row format " + candidate.contract() + " is not this library's"
                    : engine.registry().find(candidate.id()).isEmpty()
                            ? "this process has no definition of it"
                            : "its key is stored as another type than the definition here declares";
            LOG.atDebug().addKeyValue("backfill", candidate.id()).log("Backfill left alone: {}", why);
            if (BackfillId.isValid(candidate.id())) {
                engine.events()
                        .publish(BackfillEvent.of(
                                BackfillEvent.Kind.UNKNOWN_HERE, BackfillId.of(candidate.id()), 0, null));
            }
        }
        return readable;
    }

    private Optional<Held> claim(Session session, Candidate candidate, String owner) throws SQLException {
        BackfillDefinition<?> definition =
                engine.registry().find(candidate.id()).orElseThrow();
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null || !check.passed()) {
            engine.sql()
                    .claims()
                    .annotate(
                            session,
                            candidate.id(),
                            "schema",
                            check.all().get(0).message());
            engine.events()
                    .publish(BackfillEvent.of(
                            BackfillEvent.Kind.SCHEMA_INCOMPATIBLE,
                            definition.id(),
                            0,
                            check.all().get(0).code()));
            return Optional.empty();
        }
        Optional<Claim> claim = engine.sql()
                .claims()
                .acquire(
                        session,
                        List.of(candidate.id()),
                        owner,
                        engine.options().lease(),
                        engine.options().maxAttempts());
        return claim.map(c -> new Held(c, PreparedDefinition.of(engine, definition, facts)));
    }

    /** Owners died without progress as often as is allowed: the definition may be killing its process (RB-5). */
    private void exhaust(Candidate candidate) throws SQLException {
        Diagnostic why = Diagnostic.of(
                DiagnosticCode.OWNER_LOST_REPEATEDLY,
                candidate.attempts() + " owners died or lost their claim without committed progress. "
                        + DiagnosticCode.OWNER_LOST_REPEATEDLY.remedy(),
                null);
        BackfillId id = BackfillId.of(candidate.id());
        Long generation = engine.control().inTransaction(session -> exhaust(session, id, why));
        if (generation != null) {
            engine.events().publish(BackfillEvent.of(BackfillEvent.Kind.FAILED, id, generation, why.code()));
        }
    }

    private @Nullable Long exhaust(Session session, BackfillId id, Diagnostic why) throws SQLException {
        Long generation = engine.sql().outcomes().exhaust(session, id.value(), why);
        if (generation == null) {
            return null;
        }
        engine.sql()
                .audit()
                .write(
                        session,
                        new AuditRecord(
                                new Authority(Authority.Kind.ENGINE, null),
                                id,
                                null,
                                "fail",
                                null,
                                BackfillState.FAILED,
                                generation,
                                "applied",
                                why.code()));
        return generation;
    }

    private void announce(Claim claim, Candidate candidate) {
        BackfillEvent.Kind kind = claim.takenOver() ? BackfillEvent.Kind.TAKEN_OVER : BackfillEvent.Kind.CLAIMED;
        engine.events().publish(BackfillEvent.of(kind, claim.id(), claim.generation(), null));
        if (claim.takenOver()) {
            LOG.atInfo()
                    .addKeyValue("backfill", claim.id())
                    .addKeyValue("generation", claim.generation())
                    .addKeyValue("former_owner", candidate.lostOwner())
                    .log("Took over an expired claim");
        }
    }
}
