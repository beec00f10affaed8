package dev.backfill.postgres.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Makes an input that fails as small as leaving out can make it. */
public final class Shrink {

    private Shrink() {}

    /** Leaves out pieces, halves first, for as long as the rest still fails. */
    public static <T> List<T> shrunk(List<T> input, Predicate<List<T>> fails) {
        List<T> small = new ArrayList<>(input);
        for (int piece = small.size() / 2; piece >= 1; piece /= 2) {
            for (int from = 0; from + piece <= small.size(); ) {
                List<T> without = new ArrayList<>(small);
                without.subList(from, from + piece).clear();
                if (fails.test(without)) {
                    small = without;
                } else {
                    from += piece;
                }
            }
        }
        return small;
    }
}
