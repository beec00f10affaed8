package dev.backfill.example.relay.demo;

import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.demo.MidBatchKill.Killed;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The drama of the demo, one small step at each call: the kill, then the takeover. Confined to the demo's thread. */
final class Takeover {

    private final Queries queries;
    private final MidBatchKill kill;
    private final List<RelayProcess> relays;
    private @Nullable Killed killed;
    private @Nullable Taken taken;

    Takeover(String jdbcUrl, Queries queries, List<RelayProcess> relays) {
        this.queries = queries;
        this.kill = new MidBatchKill(jdbcUrl, queries);
        this.relays = relays;
    }

    /**
     * The other relay has the claim.
     *
     * @param generation of the new claim
     * @param secondsAfter the kill, by PostgreSQL's clock
     */
    record Taken(long generation, double secondsAfter) {}

    /** What happened since the last call, in a sentence. */
    Optional<String> step() throws SQLException, InterruptedException {
        Killed victim = killed;
        if (victim == null) {
            killed = kill.attempt(relays).orElse(null);
            return Optional.ofNullable(killed)
                    .map(k -> k.victim().name() + " (process " + k.victim().pid()
                            + ") killed with SIGKILL inside transaction " + k.transaction() + " of " + EventCounts.ID);
        }
        if (taken == null) {
            taken = taken(victim).orElse(null);
            return Optional.ofNullable(taken)
                    .map(t -> String.format(
                            "The other relay took over %s after %.1f s", EventCounts.ID, t.secondsAfter()));
        }
        return Optional.empty();
    }

    private Optional<Taken> taken(Killed victim) throws SQLException {
        Optional<String> after = queries.text(
                "SELECT generation || ' ' || extract(epoch FROM least(claimed_at, clock_timestamp()) - ?::timestamptz)"
                        + " FROM backfill WHERE id = ? AND generation > ?",
                victim.at(),
                EventCounts.ID,
                victim.generation());
        return after.map(text -> text.split(" "))
                .map(parts -> new Taken(Long.parseLong(parts[0]), Double.parseDouble(parts[1])));
    }

    /** Adds to the proof what can be said about it afterwards. */
    void testify(Proof proof, String lease) throws SQLException {
        Killed victim = killed;
        Taken other = taken;
        if (victim == null || other == null) {
            proof.claim(false, "  the owner was not caught in the middle of a batch, or nobody took over");
            return;
        }
        String fate = queries.text("SELECT pg_xact_status(?::xid8)", victim.transaction())
                .orElse("unknown");
        proof.claim(
                fate.equals("aborted"),
                "  %s was killed inside transaction %s, which is %s",
                victim.victim().name(),
                victim.transaction(),
                fate);
        proof.claim(
                other.generation() > victim.generation(),
                "  taken over after %.1f s (lease %s), generation %d after %d",
                other.secondsAfter(),
                lease,
                other.generation(),
                victim.generation());
    }

    List<RelayProcess> survivors() {
        return relays.stream().filter(RelayProcess::isAlive).toList();
    }
}
