package dev.backfill.postgres.chaos;

import dev.backfill.BackfillId;
import dev.backfill.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.FaultProxy;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The faults, one after the other, and the next wave whenever one is completed. */
final class Storm {

    private static final long FREEZE_MILLIS = 2_600;

    private final ChaosSuite run;
    private final BackfillHarness operator;
    private final FaultProxy proxy;
    private final List<Host> hosts;
    private int wave = 1;

    Storm(ChaosSuite run, BackfillHarness operator, FaultProxy proxy, List<Host> hosts) {
        this.run = run;
        this.operator = operator;
        this.proxy = proxy;
        this.hosts = hosts;
    }

    /** Rages until it has killed often enough, and says in which wave it ended. */
    int rage() throws Exception {
        operator.start(Waves.id(wave));
        int killed = 0;
        while (killed < run.kills()) {
            keepGoing();
            awaitOwner();
            pause(run.random().nextInt(200));
            int dice = run.random().nextInt(100);
            if (dice < 55) {
                kill();
                killed++;
            } else {
                other(dice);
            }
        }
        return wave;
    }

    private void other(int dice) throws Exception {
        if (dice < 63) {
            freezePastTheLease();
        } else if (dice < 73) {
            run.count("cut");
            proxy.cut();
        } else if (dice < 80) {
            run.count("stall");
            proxy.stall();
            pause(FREEZE_MILLIS);
            proxy.heal();
        } else if (dice < 90) {
            run.count("lost answer");
            proxy.loseAnswerTo("COMMIT");
        } else if (dice < 96) {
            run.count("pause");
            operator.pause(Waves.id(wave));
        } else {
            crashServer();
        }
    }

    /** Strikes where work is under way: waits, for a while, until somebody owns the wave. */
    private void awaitOwner() {
        for (int i = 0; i < 500 && hosts.stream().noneMatch(host -> owner().startsWith(host.name())); i++) {
            pause(20);
            keepGoing();
        }
    }

    /** The owner of the open batch, in most cases: a crash of somebody idle proves nothing. */
    private Host victim() {
        if (run.random().nextInt(10) < 8) {
            String owner = owner();
            for (Host host : hosts) {
                if (owner.startsWith(host.name())) {
                    return host;
                }
            }
        }
        return hosts.get(run.random().nextInt(hosts.size()));
    }

    private String owner() {
        try {
            return String.valueOf(operator.row(Waves.id(wave)).get("claim_owner"));
        } catch (IllegalStateException e) {
            return "";
        }
    }

    private void kill() throws Exception {
        Host host = victim();
        run.count(owner().startsWith(host.name()) ? "kill of the owner" : "kill of another");
        host.killAndReplace();
    }

    private void freezePastTheLease() throws Exception {
        run.count("freeze past the lease");
        Host host = victim();
        host.signal("STOP");
        pause(FREEZE_MILLIS);
        host.signal("CONT");
    }

    /** A backend that dies by SIGKILL makes PostgreSQL end all sessions and recover, as after a crash. */
    private void crashServer() throws Exception {
        try {
            String pid = run.database()
                    .queryText("SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND pid <> pg_backend_pid() AND backend_type = 'client backend' LIMIT 1");
            run.count("server crash");
            new ProcessBuilder("kill", "-KILL", String.valueOf(pid))
                    .redirectErrorStream(true)
                    .start()
                    .waitFor(5, TimeUnit.SECONDS);
        } catch (IllegalStateException e) {
            // It is down already.
            pause(100);
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
                    if (wave < Waves.COUNT) {
                        wave++;
                        operator.start(Waves.id(wave));
                    }
                }
                default -> LockSupport.parkNanos(1);
            }
        } catch (IllegalStateException | dev.backfill.BackfillException e) {
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
