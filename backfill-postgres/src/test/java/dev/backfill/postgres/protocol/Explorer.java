package dev.backfill.postgres.protocol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Tries every interleaving of a {@link Protocol}, shortest first. */
final class Explorer {

    private final Protocol protocol;
    private final World start;
    private final Map<World, Came> seen = new HashMap<>();

    /** For the protocol without some of its guards. */
    Explorer(World.Scope scope, Set<ProtocolGuard> off) {
        protocol = new Protocol(off);
        start = World.start(scope);
    }

    private record Came(World from, String by) {}

    /** The shortest way to a broken promise; empty if no way leads to one. */
    Optional<List<String>> counterexample() {
        Deque<World> open = new ArrayDeque<>();
        seen.put(start, new Came(null, "start"));
        open.add(start);
        while (!open.isEmpty()) {
            World world = open.remove();
            for (Step step : protocol.next(world)) {
                String broken = step.breach() == null ? protocol.broken(step.world()) : step.breach();
                if (broken != null) {
                    List<String> way = way(world);
                    way.add(step.name());
                    way.add("=> " + broken);
                    return Optional.of(way);
                }
                if (seen.putIfAbsent(step.world(), new Came(world, step.name())) == null) {
                    open.add(step.world());
                }
            }
        }
        return Optional.empty();
    }

    /** How many states were seen. */
    int states() {
        return seen.size();
    }

    private List<String> way(World to) {
        List<String> way = new ArrayList<>();
        for (World world = to; world != null; world = seen.get(world).from()) {
            way.add(seen.get(world).by());
        }
        Collections.reverse(way);
        return way;
    }
}
