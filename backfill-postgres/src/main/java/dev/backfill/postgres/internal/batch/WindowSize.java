package dev.backfill.postgres.internal.batch;

/**
 * The two bounds of a window (SR-7).
 *
 * @param rows the most rows that it changes or locks
 * @param keys the most keys that it looks at; never fewer than that
 * @param byIndex whether an index names the rows that need the repair, so that it looks at no others
 */
public record WindowSize(int rows, int keys, boolean byIndex) {

    /** Checks both. */
    public WindowSize {
        if (rows < 1 || keys < rows) {
            throw new IllegalArgumentException("a window needs 1 <= rows <= keys, got " + rows + " and " + keys);
        }
    }

    /** One in which every key may need the repair. */
    public static WindowSize of(int rows) {
        return new WindowSize(rows, rows, false);
    }

    /** The most rows that a window of so many keys may change. */
    public long most(long scanned) {
        return Math.min(scanned, rows);
    }

    /** Whether it looks for the rows that need the repair, instead of going over all that it holds. */
    public boolean looksFurther() {
        return keys > rows || byIndex;
    }
}
