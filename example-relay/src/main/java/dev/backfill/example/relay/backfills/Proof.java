package dev.backfill.example.relay.backfills;

import dev.backfill.ValidationOutcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What the custom validations share: a query for unrepaired rows that must come back empty. */
final class Proof {

    private Proof() {}

    static ValidationOutcome nothingMatches(Connection connection, String query, String otherwise) throws SQLException {
        try (PreparedStatement unrepaired =
                        connection.prepareStatement("SELECT count(*) FROM (" + query + ") unrepaired");
                ResultSet count = unrepaired.executeQuery()) {
            count.next();
            return count.getLong(1) == 0
                    ? ValidationOutcome.holds()
                    : ValidationOutcome.rejected(otherwise + ": " + count.getLong(1) + ".");
        }
    }
}
