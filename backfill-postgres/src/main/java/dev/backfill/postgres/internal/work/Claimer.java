package dev.backfill.postgres.internal.work;

import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.ClaimSql.Candidate;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds work: claims one of the candidates that this process can read, in their order. Thread-safe.
 *
 * @param transactions short ones, one for each candidate
 * @param search finds candidates
 * @param claim claims one of them
 * @param events who hears of it
 */
public record Claimer(Transactions transactions, CandidateSearch search, CandidateClaim claim, Events events) {

    /** Claims for an owner; empty when there is nothing to claim. */
    Optional<HeldClaim> claim(String owner) throws SQLException {
        Set<String> tried = new HashSet<>();
        SQLException first = null;
        CandidateSearch.Look look = search.look();
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
            look = look.cut() ? search.lookBeyond(tried) : CandidateSearch.Look.NOTHING;
        }
        if (first != null) {
            throw first;
        }
        return Optional.empty();
    }

    private Optional<HeldClaim> claimOneOf(List<Candidate> candidates, String owner) throws SQLException {
        SQLException first = null;
        for (Candidate candidate : candidates) {
            try {
                CandidateClaim.Tried tried =
                        transactions.inTransaction(session -> claim.attempt(session, candidate, owner));
                // Only now, because what did not commit did not happen.
                if (tried.event() != null) {
                    events.publish(tried.event(), tried.detail(), tried.value());
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
}
