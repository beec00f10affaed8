package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which backfills are asked for.
 *
 * @param states only these; empty for all
 * @param labels only backfills with all of these
 * @param text only backfills whose ID or description holds it, in lower case; empty for all
 * @param family only its parts; null for all
 * @param after only lines with a greater ID; empty for the first page
 * @param limit how many lines; everything without one
 * @param collapse whether the parts of a family are one line
 */
record ListQuery(
        Set<BackfillState> states,
        Map<String, String> labels,
        String text,
        @Nullable String family,
        String after,
        int limit,
        boolean collapse) {

    private static final int MAX_LIMIT = 1_000;
    private static final int MAX_TEXT = 200;

    /** Reads a raw query string. */
    static ListQuery of(@Nullable String rawQuery) {
        Query query = new Query(rawQuery);
        Long limit = query.number("limit", MAX_LIMIT);
        String collapse = query.one("collapse");
        if (collapse != null && !collapse.equals("families")) {
            throw Query.bad("The parameter 'collapse' must be 'families'.");
        }
        return new ListQuery(
                states(query),
                labels(query),
                text(query),
                id(query, "family"),
                orEmpty(id(query, "after")),
                limit == null ? Integer.MAX_VALUE : limit.intValue(),
                collapse != null);
    }

    /** The parts of one family, paged by the same parameters. */
    static ListQuery parts(BackfillId family, @Nullable String rawQuery) {
        ListQuery asked = of(rawQuery);
        return new ListQuery(asked.states, asked.labels, asked.text, family.value(), asked.after, asked.limit, false);
    }

    /** Whether a row is asked for, whatever its state. */
    boolean matches(BackfillSnapshot row) {
        return (family == null || family.equals(familyOf(row)))
                && row.labels().entrySet().containsAll(labels.entrySet())
                && (text.isEmpty()
                        || row.id().value().contains(text)
                        || row.description().toLowerCase(Locale.ROOT).contains(text));
    }

    /** The line of the list that a row is on. */
    String line(BackfillSnapshot row) {
        String of = familyOf(row);
        return collapse && of != null ? of : row.id().value();
    }

    private static @Nullable String familyOf(BackfillSnapshot row) {
        BackfillId family = row.family();
        return family == null ? null : family.value();
    }

    private static Set<BackfillState> states(Query query) {
        Set<BackfillState> states = new HashSet<>();
        for (String name : query.all("state")) {
            states.add(Arrays.stream(BackfillState.values())
                    .filter(state -> state.wireName().equals(name))
                    .findFirst()
                    .orElseThrow(() -> Query.bad("The parameter 'state' must be the name of a state.")));
        }
        return states;
    }

    private static Map<String, String> labels(Query query) {
        Map<String, String> labels = new HashMap<>();
        for (String label : query.all("label")) {
            int colon = label.indexOf(':');
            if (colon < 1) {
                throw Query.bad("The parameter 'label' must look like name:value.");
            }
            labels.put(label.substring(0, colon), label.substring(colon + 1));
        }
        return labels;
    }

    private static String text(Query query) {
        String text = orEmpty(query.one("q")).strip().toLowerCase(Locale.ROOT);
        if (text.length() > MAX_TEXT) {
            throw Query.bad("The parameter 'q' must have at most " + MAX_TEXT + " characters.");
        }
        return text;
    }

    private static @Nullable String id(Query query, String name) {
        String id = query.one(name);
        if (id != null && !BackfillId.isValid(id)) {
            throw Query.bad("The parameter '" + name + "' must be an ID.");
        }
        return id;
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
