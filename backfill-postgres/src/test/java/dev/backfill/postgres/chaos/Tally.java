package dev.backfill.postgres.chaos;

import java.util.Map;
import java.util.TreeMap;

/** What struck, how often, and what was struck. Confined to the thread of the storm. */
final class Tally {

    private final Map<String, Integer> counts = new TreeMap<>();

    void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    int of(String what) {
        return counts.getOrDefault(what, 0);
    }

    @Override
    public String toString() {
        return counts.toString();
    }
}
