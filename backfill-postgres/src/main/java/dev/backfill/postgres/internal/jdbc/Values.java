package dev.backfill.postgres.internal.jdbc;

import dev.backfill.BackfillException;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads columns into Java without losing NULL. */
public final class Values {

    private Values() {}

    /**
     * The state of a row.
     *
     * @throws BackfillUnavailableException for one that this library does not know, which makes this row unreadable and no other (ID-5)
     */
    public static BackfillState state(ResultSet row) throws SQLException {
        try {
            return BackfillState.ofWireName(row.getString("state"));
        } catch (BackfillException e) {
            throw new BackfillUnavailableException(
                    BackfillUnavailableException.Reason.SCHEMA_INCOMPATIBLE,
                    "The row of " + row.getString("id") + " can't be read. " + e.getMessage(),
                    null);
        }
    }

    /** A {@code text[]}; null for NULL. */
    public static @Nullable List<String> texts(ResultSet row, String column) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? null : List.of((String[]) array.getArray());
    }

    /** A {@code timestamptz}; null for NULL. */
    public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    /** A {@code bigint}; null for NULL. */
    public static @Nullable Long bigint(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    /** An {@code integer}; null for NULL. */
    public static @Nullable Integer integer(ResultSet row, String column) throws SQLException {
        int value = row.getInt(column);
        return row.wasNull() ? null : value;
    }

    /** Canonical texts as a parameter; null for NULL. */
    public static String @Nullable [] array(@Nullable List<String> texts) {
        return texts == null ? null : texts.toArray(new String[0]);
    }
}
