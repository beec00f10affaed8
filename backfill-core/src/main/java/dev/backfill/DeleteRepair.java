package dev.backfill;

import dev.backfill.internal.CheckReturnValue;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the rows of a window for which a condition holds: retention. Immutable and thread-safe. Made by {@link Repair#delete}.
 *
 * @since 0.1
 */
@CheckReturnValue
public final class DeleteRepair implements Repair {

    private final Chain chain = new Chain();
    private final @Nullable String condition;

    private DeleteRepair(@Nullable String condition) {
        this.condition = condition;
    }

    static DeleteRepair everything() {
        return new DeleteRepair(null);
    }

    /**
     * Only rows for which this SQL condition holds are deleted; the window still moves over all keys (SR-7).
     *
     * @param condition one SQL condition
     * @throws InvalidDefinitionException if given already
     */
    public DeleteRepair where(String condition) {
        SqlFragments.check("where", condition);
        SqlFragments.once("where", this.condition);
        return chain.continueWith("where(…)", new DeleteRepair(condition));
    }

    DeleteRepair complete() {
        chain.end();
        if (condition == null) {
            throw new InvalidDefinitionException(
                    "The repair would delete every row of its source. Add .where(\"…\"), which may be \"true\".");
        }
        return this;
    }

    /** Which rows are deleted; present in every definition. */
    public Optional<String> condition() {
        return Optional.ofNullable(condition);
    }
}
