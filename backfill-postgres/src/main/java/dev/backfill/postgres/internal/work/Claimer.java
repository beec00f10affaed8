package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Finding;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.ClaimSql.Candidate;
import dev.backfill.postgres.internal.row.Readable;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds work: looks without a lock, leaves alone what this process can't safely read (ID-5) or whose schema is missing (CF-8), and
 * claims one of the rest. Thread-safe.
 *
 * @param engine what the parts share
 */
public record Claimer(EngineContext engine) {

    /** Claims for an owner; empty when there is nothing to claim. */
    Optional<HeldClaim> claim(String owner) throws SQLException {
        Set<String> tried = new HashSet<>();
        SQLException first = null;
        Look look = engine.control().inTransaction(this::look);
        while (!look.candidates().isEmpty()) {
            try {
                Optional<HeldClaim> held = claimOneOf(look.candidates(), owner);
                if (held.isPresent()) {
                    return held;
                }
            } catch (SQLException e) {
                if (SqlFailure.of(e) == SqlFailure.INFRASTRUCTURE) {
                    throw e;
                }
                first = first == null ? e : first;
            }
            // What can't be claimed, for want of its schema for instance, must not hide what stands behind it.
            look.candidates().forEach(candidate -> tried.add(candidate.id()));
            look = look.cut() ? engine.control().inTransaction(session -> lookFurther(session, tried)) : Look.NOTHING;
        }
        if (first != null) {
            throw first;
        }
        return Optional.empty();
    }

    /**
     * One look.
     *
     * @param candidates what this process can read of it
     * @param cut whether there may be more
     */
    private record Look(List<Candidate> candidates, boolean cut) {
        static final Look NOTHING = new Look(List.of(), false);
    }

    private Optional<HeldClaim> claimOneOf(List<Candidate> candidates, String owner) throws SQLException {
        SQLException first = null;
        for (Candidate candidate : candidates) {
            try {
                Tried tried = engine.control().inTransaction(s -> claim(s, candidate, owner));
                // Only now, because what did not commit did not happen.
                if (tried.event() != null) {
                    engine.events().publish(tried.event(), tried.detail(), tried.value());
                }
                if (tried.held() != null) {
                    return Optional.of(tried.held());
                }
            } catch (SQLException e) {
                if (SqlFailure.of(e) == SqlFailure.INFRASTRUCTURE) {
                    throw e;
                }
                // One that can't be claimed or ended, for want of its audit record for instance, must not hold up the
                // others.
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
        return Optional.empty();
    }

    /**
     * What came of one candidate.
     *
     * @param held the claim, or null
     * @param event what is to be told once it is durable; null when there is no news
     * @param detail what the log is told besides
     * @param value of the detail, or null
     */
    private record Tried(
            @Nullable HeldClaim held,
            @Nullable BackfillEvent event,
            String detail,
            @Nullable String value) {
        static final Tried NOTHING = new Tried(null, null, "", null);
    }

    private Look look(Session session) throws SQLException {
        List<Candidate> found = engine.sql().claims().look(session, null);
        List<Candidate> readable = found.stream().filter(this::isReadable).toList();
        // Where rows of others fill the look, this process asks for its own.
        return readable.isEmpty() && ClaimSql.wasCut(found)
                ? lookFurther(session, Set.of())
                : new Look(readable, ClaimSql.wasCut(found));
    }

    /** This process's own that were not tried yet. */
    private Look lookFurther(Session session, Set<String> tried) throws SQLException {
        List<String> others = engine.registry().ids().stream()
                .filter(id -> !tried.contains(id))
                .toList();
        List<Candidate> found = engine.sql().claims().look(session, others);
        return new Look(found.stream().filter(this::isReadable).toList(), ClaimSql.wasCut(found));
    }

    private boolean isReadable(Candidate candidate) {
        Readable judged = engine.registry().judge(candidate.id(), candidate.facts());
        if (!judged.yes() && BackfillId.isValid(candidate.id())) {
            engine.events()
                    .publish(BackfillEvent.of(
                            BackfillEvent.Kind.UNKNOWN_HERE, BackfillId.of(candidate.id()), 0, judged.wireName()));
        }
        return judged.yes();
    }

    private Tried claim(Session session, Candidate candidate, String owner) throws SQLException {
        if (candidate.attempts() >= engine.options().maxAttempts()) {
            return exhaust(session, candidate);
        }
        if (engine.caught().in(BackfillId.of(candidate.id()))) {
            // A thread of this process is still inside its code (BB-2); the next one would be caught there too.
            return Tried.NOTHING;
        }
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
            Finding first = check.all().get(0);
            return new Tried(
                    null,
                    BackfillEvent.of(BackfillEvent.Kind.SCHEMA_INCOMPATIBLE, definition.id(), 0, first.code()),
                    "subject",
                    first.subject());
        }
        Optional<Claim> claim = engine.sql()
                .claims()
                .acquire(
                        session,
                        List.of(candidate.id()),
                        owner,
                        engine.options().lease(),
                        engine.options().maxAttempts());
        return claim.map(c -> acquired(
                        new HeldClaim(c, PreparedDefinition.of(engine, definition, facts)), candidate.lostOwner()))
                .orElse(Tried.NOTHING);
    }

    private static Tried acquired(HeldClaim held, @Nullable String formerOwner) {
        boolean takenOver = held.claim().takenOver();
        BackfillEvent.Kind kind = takenOver ? BackfillEvent.Kind.TAKEN_OVER : BackfillEvent.Kind.CLAIMED;
        return new Tried(held, Events.about(kind, held.claim(), null), "former_owner", takenOver ? formerOwner : null);
    }

    /** Owners died without progress as often as is allowed: the definition may be killing its process (RB-5). */
    private Tried exhaust(Session session, Candidate candidate) throws SQLException {
        Diagnostic why = Diagnostic.of(
                DiagnosticCode.OWNER_LOST_REPEATEDLY,
                candidate.attempts() + " owners died or lost their claim without committed progress. "
                        + DiagnosticCode.OWNER_LOST_REPEATEDLY.remedy(),
                null);
        Long generation = engine.sql().outcomes().exhaust(session, candidate.id(), why);
        if (generation == null) {
            return Tried.NOTHING;
        }
        BackfillId id = BackfillId.of(candidate.id());
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
        return new Tried(
                null,
                BackfillEvent.of(BackfillEvent.Kind.FAILED, id, generation, why.code())
                        .by(candidate.lostOwner()),
                "",
                null);
    }
}
