package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.ClaimSql.Candidate;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/**
 * Looks for rows that may be claimed, without a lock, and leaves alone what this process can't safely read (ID-5). Thread-safe.
 *
 * @param transactions short ones
 * @param claims the statements
 * @param registry this process's definitions
 * @param events who hears of rows that are left alone
 */
public record CandidateSearch(Transactions transactions, ClaimSql claims, Registry registry, Events events) {

    /**
     * One look.
     *
     * @param candidates what this process can read of it
     * @param cut whether there may be more
     */
    record Look(List<Candidate> candidates, boolean cut) {
        static final Look NOTHING = new Look(List.of(), false);
    }

    /** The first look. */
    Look look() throws SQLException {
        return transactions.inTransaction(session -> {
            List<Candidate> found = claims.look(session, null);
            List<Candidate> readable = found.stream().filter(this::isReadable).toList();
            // Where rows of others fill the look, this process asks for its own.
            return readable.isEmpty() && ClaimSql.wasCut(found)
                    ? beyond(session, Set.of())
                    : new Look(readable, ClaimSql.wasCut(found));
        });
    }

    /** This process's own that were not tried yet. */
    Look lookBeyond(Set<String> tried) throws SQLException {
        return transactions.inTransaction(session -> beyond(session, tried));
    }

    private Look beyond(Session session, Set<String> tried) throws SQLException {
        List<String> others =
                registry.ids().stream().filter(id -> !tried.contains(id)).toList();
        List<Candidate> found = claims.look(session, others);
        return new Look(found.stream().filter(this::isReadable).toList(), ClaimSql.wasCut(found));
    }

    private boolean isReadable(Candidate candidate) {
        Readability judged = registry.judge(candidate.id(), candidate.facts());
        if (!judged.yes() && BackfillId.isValid(candidate.id())) {
            events.publish(BackfillEvent.of(
                    BackfillEvent.Kind.UNKNOWN_HERE, BackfillId.of(candidate.id()), 0, judged.wireName()));
        }
        return judged.yes();
    }
}
