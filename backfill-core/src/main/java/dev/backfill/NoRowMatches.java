package dev.backfill;

/**
 * The common proof; see {@link Validation#noRowMatches}.
 *
 * @param condition what an unrepaired row looks like
 * @since 0.1
 */
public record NoRowMatches(String condition) implements Validation {
    /** Refuses what is not one complete condition. */
    public NoRowMatches {
        SqlFragments.check("noRowMatches", condition);
    }
}
