package dev.backfill.testkit.conformance;

import dev.backfill.internal.Identifiers;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One of the author's tables, as the checks read, save and restore it.
 *
 * @param number tells the saved copies apart
 * @param name as regclass writes it, ready for SQL
 * @param identity the columns that tell rows apart; empty when nothing does
 * @param settable the columns that can be written
 */
record DataTable(int number, String name, List<String> identity, List<String> settable) {

    /** Where the checks keep their copies. */
    static final String COPIES = "backfill_testkit";

    String copy(String label) {
        return COPIES + "." + Identifiers.quote(label + "_" + number);
    }

    /** A SQL expression that names a row, the same before and after a repair. */
    String identityOf(String alias) {
        if (identity.isEmpty()) {
            return "to_jsonb(" + alias + ")::text";
        }
        return identity.stream()
                .map(column -> alias + "." + Identifiers.quote(column))
                .collect(Collectors.joining(", ", "jsonb_build_array(", ")::text"));
    }

    String settableColumns() {
        return settable.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
    }

    @Override
    public String toString() {
        return name;
    }
}
