package dev.backfill.postgres.internal.jdbc;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.RowRepair.Row;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A locked row as text. */
public final class ReadRow implements Row {

    private final List<String> columns;
    private final List<String> key;
    private final String[] texts;

    /** A row by its columns and its key. */
    public ReadRow(List<String> columns, List<String> key, String[] texts) {
        this.columns = columns;
        this.key = key;
        this.texts = texts;
    }

    /** Its key as text. */
    public List<String> key() {
        return key;
    }

    @Override
    public @Nullable String text(String column) {
        int index = columns.indexOf(column);
        if (index < 0) {
            // Not which: a function that mixes up names and values would put a value into the diagnostic (AU-5).
            throw new InvalidDefinitionException("The repair's function asks for a column that is not named in"
                    + " Repair.rows().reading(...). Name it there.");
        }
        return texts[index];
    }
}
