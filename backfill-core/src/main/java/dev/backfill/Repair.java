package dev.backfill;

import java.util.function.Function;

/**
 * What a definition does with the rows of one window, in one of three styles.
 *
 * @since 0.1
 */
public sealed interface Repair permits SetRepair, RowRepair, CustomRepair {

    /** Calls the function of the style at hand; adding a style breaks every caller at compile time. */
    default <T> T match(
            Function<? super SetRepair, ? extends T> set,
            Function<? super RowRepair, ? extends T> row,
            Function<? super CustomRepair<?>, ? extends T> custom) {
        if (this instanceof SetRepair repair) {
            return set.apply(repair);
        }
        if (this instanceof RowRepair repair) {
            return row.apply(repair);
        }
        return custom.apply((CustomRepair<?>) this);
    }
}
