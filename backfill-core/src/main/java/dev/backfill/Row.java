package dev.backfill;

import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One locked row as a {@link RowRepair} sees it. Values come from PostgreSQL's text form, so nothing is lost. Confined to the call.
 *
 * <p>Every method throws {@link InvalidDefinitionException} for a column that was not named in {@link RowRepair#reading}.
 *
 * @since 0.1
 */
public interface Row {

    /** The value as PostgreSQL writes it, in ISO date style and UTC; null for NULL. */
    @Nullable
    String text(String column);

    /** Whether the value is NULL. */
    default boolean isNull(String column) {
        return text(column) == null;
    }

    /** An integer of any width; null for NULL. */
    default @Nullable Long bigint(String column) {
        String text = text(column);
        return text == null ? null : Long.valueOf(text);
    }

    /** A numeric; null for NULL. */
    default @Nullable BigDecimal numeric(String column) {
        String text = text(column);
        return text == null ? null : new BigDecimal(text);
    }

    /** A boolean; null for NULL. */
    default @Nullable Boolean bool(String column) {
        String text = text(column);
        return text == null ? null : Boolean.valueOf(text.startsWith("t"));
    }

    /** A UUID; null for NULL. */
    default @Nullable UUID uuid(String column) {
        String text = text(column);
        return text == null ? null : UUID.fromString(text);
    }
}
