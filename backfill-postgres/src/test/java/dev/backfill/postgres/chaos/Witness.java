package dev.backfill.postgres.chaos;

import dev.backfill.BackfillState;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Looks at the rows all the time, past the engine, and remembers whatever must never be seen. */
final class Witness implements AutoCloseable {

    private record Sight(BackfillState state, long generation, long checkpoint, String bound, String owner) {}

    private final TestDatabase database;
    private final List<String> violations = new CopyOnWriteArrayList<>();
    private final Map<String, Sight> last = new HashMap<>();
    private final Map<String, String> ownerOf = new HashMap<>();
    private final Thread thread = new Thread(this::watch, "chaos-witness");
    private volatile boolean done;
    private final AtomicLong looks = new AtomicLong();

    Witness(TestDatabase database) {
        this.database = database;
        thread.setDaemon(true);
        thread.start();
    }

    List<String> violations() {
        return violations;
    }

    long looks() {
        return looks.get();
    }

    private void watch() {
        while (!done) {
            try {
                for (Map<String, String> row :
                        database.queryRows("SELECT id, state, generation, coalesce(checkpoint[1], '-1') AS"
                                + " checkpoint, coalesce(bound[1], '') AS bound, coalesce(claim_token::text, '') AS owner"
                                + " FROM backfill WHERE state <> 'pending'")) {
                    look(row);
                }
                looks.incrementAndGet();
            } catch (IllegalStateException e) {
                // The server is down for a moment; the next look sees what it came back with.
                LockSupport.parkNanos(20_000_000);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private void look(Map<String, String> row) {
        String id = row.get("id");
        Sight now = new Sight(
                BackfillState.ofWireName(row.get("state")),
                Long.parseLong(row.get("generation")),
                Long.parseLong(row.get("checkpoint")),
                row.get("bound"),
                row.get("owner"));
        Sight before = last.put(id, now);
        if (before != null && !before.equals(now)) {
            compare(id, before, now);
        }
        if (!now.owner().isEmpty()) {
            String known = ownerOf.putIfAbsent(id + " " + now.generation(), now.owner());
            if (known != null && !known.equals(now.owner())) {
                violations.add(id + ": two owners in generation " + now.generation());
            }
        }
    }

    private void compare(String id, Sight before, Sight now) {
        if (now.generation() < before.generation()) {
            violations.add(id + ": the generation fell, " + before + " -> " + now);
        }
        if (now.checkpoint() < before.checkpoint()) {
            violations.add(id + ": the checkpoint went back, " + before + " -> " + now);
        }
        if (!now.bound().equals(before.bound())) {
            violations.add(id + ": the bound changed, " + before + " -> " + now);
        }
        if (before.state() != now.state() && !reachable(before.state(), now.state())) {
            violations.add(id + ": no way leads from " + before + " to " + now);
        }
    }

    /** Between two looks there may have been several transitions. */
    private static boolean reachable(BackfillState from, BackfillState to) {
        Set<BackfillState> seen = EnumSet.noneOf(BackfillState.class);
        Deque<BackfillState> next = new ArrayDeque<>(from.next());
        while (!next.isEmpty()) {
            BackfillState state = next.pop();
            if (seen.add(state)) {
                next.addAll(state.next());
            }
        }
        return seen.contains(to);
    }

    @Override
    public void close() {
        done = true;
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
