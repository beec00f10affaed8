package dev.backfill;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * One declaration over several disjoint key ranges: so many definitions with stable IDs ({@code events.v1.00},
 * {@code events.v1.01} …), each with a row, a claim and a validation of its own, so that several workers and hosts share one large
 * repair. Made by {@link BackfillDefinition#inRanges}. Immutable.
 *
 * <p>The first start of any part captures the bound of the whole and fixes every range in the same transaction; later starts take
 * theirs from there. How many parts there are belongs to the family's identity: another number is refused, and takes another ID, as
 * any material change does (ID-4).
 *
 * @param <K> the key
 * @since 0.1
 */
public final class Family<K> implements Iterable<BackfillDefinition<K>> {

    /** A family of one would be a plain definition. */
    public static final int FEWEST_PARTS = 2;

    /** Two digits number the parts. */
    public static final int MOST_PARTS = 100;

    private static final int LONGEST_ID = 125;

    private final BackfillId id;
    private final List<BackfillDefinition<K>> parts;

    Family(BackfillDefinition<K> whole, int parts) {
        this.id = whole.id();
        if (parts < FEWEST_PARTS || parts > MOST_PARTS) {
            throw new InvalidDefinitionException("Family " + id + " must have " + FEWEST_PARTS + " to " + MOST_PARTS
                    + " key ranges, got " + parts + ". Two or three for each worker are a good start.");
        }
        if (id.value().length() > LONGEST_ID) {
            throw new InvalidDefinitionException(
                    "The ID of family " + id + " has " + id.value().length() + " characters. It may have " + LONGEST_ID
                            + ", because the number of a part follows it (ID-8).");
        }
        this.parts = IntStream.range(0, parts)
                .mapToObj(index -> whole.part(partId(id, index), new Part(id, index, parts)))
                .toList();
    }

    /** The ID that readiness and guards know the family by. No row has it. */
    public BackfillId id() {
        return id;
    }

    /** The definitions, in the order of their ranges. */
    public List<BackfillDefinition<K>> parts() {
        return parts;
    }

    @Override
    public Iterator<BackfillDefinition<K>> iterator() {
        return parts.iterator();
    }

    /** The ID of a part. */
    public static BackfillId partId(BackfillId family, int index) {
        return BackfillId.of(family + String.format(Locale.ROOT, ".%02d", index));
    }

    @Override
    public String toString() {
        return "family " + id + " of " + parts.size() + " key ranges";
    }

    /**
     * Which part of a family a definition is: one of several disjoint key ranges of one source.
     *
     * @param family the family's ID, which no row has
     * @param index the part's number, from 0, in the order of the keys
     * @param parts how many parts the family has
     */
    public record Part(BackfillId family, int index, int parts) {

        /** Checks that the part is one of the family's. */
        public Part {
            if (parts < Family.FEWEST_PARTS || parts > Family.MOST_PARTS || index < 0 || index >= parts) {
                throw new InvalidDefinitionException("Part " + index + " of " + parts + " of family " + family
                        + " does not exist: a family has " + Family.FEWEST_PARTS + " to " + Family.MOST_PARTS
                        + " parts, counted from 0.");
            }
        }
    }
}
