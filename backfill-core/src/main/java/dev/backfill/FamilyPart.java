package dev.backfill;

/**
 * Which part of a family a definition is: one of several disjoint key ranges of one source.
 *
 * @param family the family's ID, which no row has
 * @param index the part's number, from 0, in the order of the keys
 * @param parts how many parts the family has
 * @since 0.1
 */
public record FamilyPart(BackfillId family, int index, int parts) {

    /** Checks that the part is one of the family's. */
    public FamilyPart {
        if (parts < Family.FEWEST_PARTS || parts > Family.MOST_PARTS || index < 0 || index >= parts) {
            throw new InvalidDefinitionException("Part " + index + " of " + parts + " of family " + family
                    + " does not exist: a family has " + Family.FEWEST_PARTS + " to " + Family.MOST_PARTS
                    + " parts, counted from 0.");
        }
    }
}
