package dev.backfill.testkit.conformance;

import dev.backfill.testkit.FaultyConnections;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What an undisturbed run says to the server, and the places in it at which it is worth disturbing another one. */
final class Conversation {

    private static final Pattern TAG = Pattern.compile("backfill:([a-z-]+)");
    private static final Pattern COMMIT = Pattern.compile("backfill:commit|(?i)^\\s*commit\\b");
    // Looks without a transaction of the definition around them: whoever dies there has done nothing.
    private static final List<String> IDLE_TALK = List.of("catalog", "look", "schema", "settings", "delay");
    private static final int SHOWN = 50;

    private final List<String> said;

    private Conversation(List<String> said) {
        this.said = List.copyOf(said);
    }

    /** A place before or after an exchange, by its number from the start on. */
    record Place(int number, boolean before, String name) {
        @Override
        public String toString() {
            return (before ? "right before" : "right after") + " exchange " + number + " with the server (" + name
                    + ")";
        }
    }

    /** Runs once without disturbance, with batches capped. */
    static Conversation of(Rig<?> rig, int cap) {
        rig.reset();
        FaultyConnections listening = FaultyConnections.over(rig.connections());
        try (Walk walk = rig.walk(rig.subject().inBatchesOf(cap), cap, listening)) {
            walk.start();
            listening.restart();
            walk.complete("in batches of " + cap);
        }
        return new Conversation(listening.seen());
    }

    /** Before every exchange that matters, and after every one that commits: after any other, nothing is there yet to differ. */
    List<Place> worthCrashingAt() {
        List<Place> places = new ArrayList<>();
        for (int i = 0; i < said.size(); i++) {
            String sql = said.get(i);
            if (!IDLE_TALK.contains(tag(sql)) && !sql.equals("ROLLBACK")) {
                places.add(new Place(i + 1, true, name(sql)));
            }
            if (COMMIT.matcher(sql).find()) {
                places.add(new Place(i + 1, false, name(sql)));
            }
        }
        return places;
    }

    /** Before every exchange after the first batch began, up to its fence. */
    List<Place> insideTheFirstBatch() {
        List<Place> places = new ArrayList<>();
        boolean inside = false;
        for (int i = 0; i < said.size(); i++) {
            String sql = said.get(i);
            if (inside) {
                places.add(new Place(i + 1, true, name(sql)));
                if (sql.contains("backfill:fence")) {
                    return places;
                }
            }
            inside |= tag(sql).equals("begin");
        }
        throw new IllegalStateException("A run had no batch with a beginning and a fence: " + said);
    }

    private static String tag(String sql) {
        Matcher tag = TAG.matcher(sql);
        return tag.find() ? tag.group(1) : "";
    }

    private static String name(String sql) {
        String tag = tag(sql);
        String text = sql.strip().replaceAll("\\s+", " ");
        return !tag.isEmpty()
                ? tag
                : text.length() <= SHOWN ? text : text.substring(0, SHOWN).toLowerCase(Locale.ROOT) + "…";
    }
}
