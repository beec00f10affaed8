package dev.backfill.postgres.chaos;

import dev.backfill.BackfillException;
import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The faults, one after the other, and the next wave whenever one is completed. */
final class Storm implements AutoCloseable {

    static final String OWNER_IN_BATCH = "owner, in an open batch";
    static final String OWNER = "owner, between two batches";
    static final String ANOTHER = "another host";
    static final String OVERTAKEN = "overtaken while frozen";
    static final String ANSWERS_LOST = "answers that were lost";

    private static final long PAST_THE_LEASE = ChaosSuite.LEASE_MILLIS + 500;
    private static final int AIMS = 20;
    private static final int MILESTONE = 25;

    private final TestDatabase database;
    private final ChaosServer server;
    private final BackfillHarness operator;
    private final FaultProxy proxy;
    private final List<Host> hosts;
    private final Random random;
    private final int waves;
    private final Signals signals = new Signals();
    private final Tally tally = new Tally();
    private final List<Gate> toBeLost = new ArrayList<>();
    private int wave = 1;

    /** Whose claim it is, and whether the server has a transaction of that very claim open. */
    private record Sight(String owner, long generation, boolean inBatch) {

        static final Sight NOTHING = new Sight("", 0, false);
    }

    Storm(ChaosRun run, BackfillHarness operator, FaultProxy proxy, List<Host> hosts, Random random)
            throws IOException {
        this.database = run.database();
        this.server = run.server();
        this.waves = run.waves();
        this.operator = operator;
        this.proxy = proxy;
        this.hosts = hosts;
        this.random = random;
    }

    /** What is done now and then while it rages. */
    interface Milestone {
        void reached(int wave) throws IOException;
    }

    /** Rages until it has killed so often or for so long, and says in which wave it ended. */
    int rage(int kills, Duration limit, Milestone milestone) throws Exception {
        long until = System.nanoTime() + limit.toNanos();
        operator.start(Waves.id(wave));
        Deque<Fault> first = new ArrayDeque<>(Fault.eachOnce(random));
        while (tally.of(Fault.KILL.name()) < kills && System.nanoTime() - until < 0) {
            keepGoing();
            awaitOwner();
            // Mostly at once, now and then after some progress.
            pause(random.nextInt(random.nextInt(5) == 0 ? 1_000 : 100));
            Fault fault = first.isEmpty() ? Fault.any(random) : first.pop();
            tally.count(fault.name());
            strike(fault);
            if (fault == Fault.KILL && tally.of(Fault.KILL.name()) % MILESTONE == 0) {
                milestone.reached(wave);
            }
        }
        toBeLost.stream().filter(Gate::hasArrival).forEach(gate -> tally.count(ANSWERS_LOST));
        return wave;
    }

    Tally tally() {
        return tally;
    }

    @Override
    public void close() {
        signals.close();
    }

    private void strike(Fault fault) throws Exception {
        switch (fault) {
            case KILL -> kill();
            case FREEZE -> freezePastTheLease();
            case CUT -> proxy.cut();
            case STALL -> {
                proxy.stall();
                pause(PAST_THE_LEASE);
                proxy.heal();
            }
            case LOSE_ANSWER -> toBeLost.add(proxy.loseAnswerTo("COMMIT"));
            case PAUSE -> pauseAndResume();
            case RESTART -> server.restart();
            case CRASH -> crashServer();
        }
    }

    /** Strikes where work is under way: waits, for a while, until somebody who lives owns the wave. */
    private void awaitOwner() {
        for (int i = 0; i < 500; i++) {
            String owner = look().owner();
            if (hosts.stream().anyMatch(host -> host.owns(owner))) {
                return;
            }
            pause(10);
            keepGoing();
        }
    }

    private void kill() throws Exception {
        Host host = freezeSomebody();
        // Still frozen, so that what is seen is what dies.
        tally.count("kill: " + kind(host, look()));
        host.killAndReplace(wave);
    }

    /** The owner, in most cases, and mostly in an open batch: the death of somebody idle proves little. */
    private Host freezeSomebody() throws Exception {
        int dice = random.nextInt(10);
        Host host = dice == 0 ? hosts.get(random.nextInt(hosts.size())) : owner();
        host.freeze(signals);
        for (int i = 0; dice > 1 && i < AIMS && !kind(host, look()).equals(OWNER_IN_BATCH); i++) {
            host.thaw(signals);
            pause(5 + random.nextInt(20));
            host = owner();
            host.freeze(signals);
        }
        return host;
    }

    private Host owner() {
        String owner = look().owner();
        return hosts.stream()
                .filter(host -> host.owns(owner))
                .findFirst()
                .orElseGet(() -> hosts.get(random.nextInt(hosts.size())));
    }

    private static String kind(Host host, Sight sight) {
        if (!host.owns(sight.owner())) {
            return ANOTHER;
        }
        return sight.inBatch() ? OWNER_IN_BATCH : OWNER;
    }

    private void freezePastTheLease() throws Exception {
        Host host = freezeSomebody();
        Sight before = look();
        String kind = kind(host, before);
        tally.count("freeze: " + kind);
        pause(PAST_THE_LEASE);
        if (!kind.equals(ANOTHER) && look().generation() > before.generation()) {
            tally.count(OVERTAKEN + ", " + host.profile());
        }
        host.thaw(signals);
    }

    private void pauseAndResume() {
        try {
            operator.pause(Waves.id(wave));
        } catch (IllegalStateException | BackfillException e) {
            // Completed or unreachable at this moment; the next round looks again.
            pause(10);
        }
        pause(random.nextInt(300));
    }

    /** A backend that dies by SIGKILL makes PostgreSQL end all sessions and recover, as after a crash. */
    private void crashServer() throws Exception {
        List<String> pids = database.queryTexts(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY xact_start NULLS LAST LIMIT 1");
        for (String pid : pids) {
            signals.send(Long.parseLong(pid), "KILL");
        }
    }

    private Sight look() {
        try {
            // The engine's batches carry number and generation of their claim in the name of the session.
            Map<String, String> row =
                    database.queryRows("""
                            SELECT coalesce(b.claim_owner, '') AS owner, b.generation, EXISTS (SELECT FROM pg_stat_activity AS a
                              WHERE a.datname = current_database() AND a.state <> 'idle'
                              AND a.application_name LIKE 'backfill #' || b.no || ' g' || b.generation || ' %') AS in_batch
                            FROM backfill AS b WHERE b.id = ?""", Waves.id(wave).value()).get(0);
            return new Sight(
                    String.valueOf(row.get("owner")),
                    Long.parseLong(String.valueOf(row.get("generation"))),
                    "t".equals(row.get("in_batch")));
        } catch (IllegalStateException e) {
            return Sight.NOTHING;
        }
    }

    /** Operators resume and retry, and start the next wave when one is done. */
    private void keepGoing() {
        BackfillId id = Waves.id(wave);
        try {
            BackfillState state = operator.state(id);
            switch (state) {
                case PAUSED -> operator.resume(id);
                case BLOCKED, FAILED -> operator.retry(id);
                case PENDING -> operator.start(id);
                case COMPLETED -> {
                    if (wave == waves) {
                        throw new AssertionError("There is no work left: all " + waves + " waves are completed.");
                    }
                    wave++;
                    operator.start(Waves.id(wave));
                }
                default -> LockSupport.parkNanos(1);
            }
        } catch (IllegalStateException | BackfillException e) {
            // The server is down for a moment; the next round looks again.
            pause(100);
        }
    }

    private static void pause(long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }
}
