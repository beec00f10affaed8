package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.ActionSql;
import dev.backfill.postgres.internal.row.FamilySql;
import dev.backfill.postgres.internal.row.FamilySql.Range;
import dev.backfill.postgres.internal.row.FamilySql.Ranges;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key range that a start gives a backfill: the whole source, or a part's share of what its family's first start has fixed. A
 * family is never divided anew: what is stored and does not fit the definition refuses the start. Thread-safe.
 */
public final class FamilyRanges {

    private static final Pattern PART_ID = Pattern.compile("(.+)\\.([0-9]{2})");

    private final FamilySql families;

    /** Over the families of these tables. */
    public FamilyRanges(Names names) {
        this.families = new FamilySql(names);
    }

    /**
     * Waits for every other start that may divide the same source, or take it as a whole, and holds off those that come later until
     * the transaction ends: what is found after this stays true (ID-4).
     */
    public void hold(Session session, BackfillDefinition<?> definition) throws SQLException {
        Family.Part part = definition.part().orElse(null);
        if (part != null) {
            // Parts don't contradict each other, so they share it.
            families.share(session, part.family().value());
            return;
        }
        // A whole under a part's ID collides with that part's family, and one under a family's own ID with that family.
        Matcher partId = PART_ID.matcher(definition.id().value());
        if (partId.matches()) {
            families.hold(session, partId.group(1));
        }
        families.hold(session, definition.id().value());
    }

    /** What keeps a part from being started; nothing for a definition of a whole source. */
    List<Finding> findings(Session session, BackfillDefinition<?> definition) throws SQLException {
        Family.Part part = definition.part().orElse(null);
        if (part == null) {
            return familyOf(session, definition.id());
        }
        Optional<Ranges> stored = families.find(session, part.family());
        if (stored.isPresent()) {
            return misfits(definition, part, stored.get());
        }
        return families.startedAlone(session, part)
                .map(id -> List.of(new Finding(
                        Finding.Code.FAMILY_PART_STARTED_ALONE,
                        id,
                        "Backfill " + id
                                + " was started as a repair of the whole source, so it can't be a part of family "
                                + part.family() + ". Divide the source under a family ID that was never used (ID-4).")))
                .orElse(List.of());
    }

    /** A definition of the whole source must not take the ID of a part: it would repair the other parts' rows again. */
    private List<Finding> familyOf(Session session, BackfillId id) throws SQLException {
        if (families.find(session, id).isPresent()) {
            return List.of(new Finding(
                    Finding.Code.FAMILY_PART_STARTED_ALONE,
                    id.value(),
                    "Backfill " + id
                            + " is a family that was started, and this process declares it as a repair of the whole"
                            + " source. Declare the family, or use another ID (ID-4)."));
        }
        Matcher part = PART_ID.matcher(id.value());
        if (!part.matches()) {
            return List.of();
        }
        Optional<Ranges> stored = families.find(session, BackfillId.of(part.group(1)));
        return stored.isEmpty()
                        || Integer.parseInt(part.group(2)) >= stored.get().parts()
                ? List.of()
                : List.of(
                        new Finding(
                                Finding.Code.FAMILY_PART_STARTED_ALONE,
                                id.value(),
                                "Backfill " + id + " is a part of family " + part.group(1)
                                        + ", which was started, and this process"
                                        + " declares it as a repair of the whole source. Declare the family, or use another ID (ID-4)."));
    }

    private static List<Finding> misfits(BackfillDefinition<?> definition, Family.Part part, Ranges stored) {
        List<Finding> findings = new ArrayList<>();
        if (stored.parts() != part.parts()) {
            findings.add(new Finding(
                    Finding.Code.FAMILY_PARTS_CHANGED,
                    part.family().value(),
                    "Family " + part.family() + " was started with " + stored.parts()
                            + " parts, and this process divides it into "
                            + part.parts()
                            + ". A family is never divided anew: declare " + stored.parts()
                            + " parts again, or repair what is left under a new ID (ID-4)."));
        }
        if (!stored.keyCodec().equals(definition.key().codec())) {
            findings.add(new Finding(
                    Finding.Code.FAMILY_KEY_CHANGED,
                    part.family().value(),
                    "The ranges of family " + part.family() + " are stored as keys " + stored.keyCodec()
                            + ", and the definition here has "
                            + definition.key().codec()
                            + ". Declare that key again, or use a new ID (ID-4)."));
        }
        return findings;
    }

    /**
     * What came of asking for a range.
     *
     * @param range the range
     * @param findings why it must not be taken; empty when it may
     */
    public record Taken(Range range, List<Finding> findings) {}

    /** The range, captured in the session's transaction if it is the first of its family (SR-1). */
    public Taken take(Session session, BackfillDefinition<?> definition, TableFacts facts) throws SQLException {
        Family.Part part = definition.part().orElse(null);
        if (part == null) {
            return new Taken(ActionSql.whole(session, definition), List.of());
        }
        Ranges ranges = families.settle(session, definition, part, facts.oid());
        // Another process may have been quicker, and of another mind.
        return new Taken(ranges.of(part.index()), misfits(definition, part, ranges));
    }
}
