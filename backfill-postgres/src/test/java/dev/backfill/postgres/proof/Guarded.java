package dev.backfill.postgres.proof;

import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.History;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.postgres.internal.row.Target;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The statements on the one row, each called as the engine calls it, in a transaction of its own. */
final class Guarded {

    static final Duration LEASE = Duration.ofSeconds(30);
    static final int MOST_ATTEMPTS = 3;

    private static final Diagnostic WHY = Diagnostic.of(DiagnosticCode.DEFINITION_ERROR, "It failed.", null);

    private final TestDatabase db;
    private final ClaimSql claims;
    private final OutcomeSql outcomes;

    Guarded(TestDatabase db) {
        Names names = new Names("public");
        EngineOptions options =
                EngineOptions.builder().maxAttempts(MOST_ATTEMPTS).build();
        this.db = db;
        this.claims = new ClaimSql(names);
        this.outcomes = new OutcomeSql(names, claims, options);
    }

    /** What an owner of a claim may do. */
    enum Owned {
        RENEW,
        RELEASE,
        RECLAIM,
        DELAY,
        DELAY_CONTENDED,
        NARROW,
        BLOCK,
        FAIL,
        COMPLETE;

        /** Whether it asks for a lease that is still valid; giving back and settling need none. */
        boolean needsLease() {
            return this != RELEASE && this != RECLAIM;
        }
    }

    Session open() throws SQLException {
        return new Sessions(db, true).open(Duration.ofSeconds(60));
    }

    boolean perform(Owned what, Claim claim) throws SQLException {
        try (Session session = open()) {
            boolean done = perform(what, claim, session);
            session.commit();
            return done;
        }
    }

    boolean perform(Owned what, Claim claim, Session session) throws SQLException {
        return switch (what) {
            case RENEW -> claims.renew(session, claim, LEASE, null, null);
            case RELEASE -> claims.release(session, claim);
            case RECLAIM -> claims.reclaim(session, claim, LEASE).isPresent();
            case DELAY -> outcomes.delay(session, claim, WHY, false);
            case DELAY_CONTENDED -> outcomes.delay(session, claim, WHY, true);
            case NARROW -> outcomes.narrow(session, claim, WHY);
            case BLOCK -> outcomes.end(session, claim, BackfillState.BLOCKED, WHY);
            case FAIL -> outcomes.end(session, claim, BackfillState.FAILED, WHY);
            case COMPLETE -> outcomes.complete(session, claim);
        };
    }

    boolean acquire(String... ids) throws SQLException {
        try (Session session = open()) {
            boolean got = acquire(session, ids);
            session.commit();
            return got;
        }
    }

    boolean acquire(Session session, String... ids) throws SQLException {
        Target target = Target.resolve(session, Counters.custom(1).table()).orElseThrow();
        return claims.acquire(session, List.of(ids), target, "racer", LEASE, MOST_ATTEMPTS)
                .isPresent();
    }

    boolean completeUnclaimed(long generation) throws SQLException {
        return completeUnclaimed(generation, history());
    }

    /** The server's own. */
    History history() {
        return new History(db.queryLong("select system_identifier from pg_control_system()"), (int)
                db.queryLong("select timeline_id from pg_control_checkpoint()"));
    }

    boolean completeUnclaimed(long generation, History judged) throws SQLException {
        try (Session session = open()) {
            boolean done = outcomes.completeUnclaimed(session, Counters.ID.value(), generation, judged);
            session.commit();
            return done;
        }
    }

    boolean exhaust() throws SQLException {
        try (Session session = open()) {
            boolean done = outcomes.exhaust(session, Counters.ID.value(), WHY) != null;
            session.commit();
            return done;
        }
    }

    /** The claim as the row has it. */
    static Claim claimIn(Map<String, String> row) {
        return new Claim(
                Counters.ID,
                Integer.parseInt(row.get("no")),
                BackfillState.ofWireName(row.get("state")),
                Long.parseLong(row.get("generation")),
                UUID.fromString(row.get("claim_token")),
                String.valueOf(row.get("claim_owner")),
                List.of("10"),
                null,
                List.of("10"),
                0,
                0,
                false,
                null);
    }
}
