package dev.backfill.example.relay.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A realistic, messy history, always the same for the same number of events: everything random comes from an MD5 of the row's
 * number. Written by the server itself in one statement per table.
 */
final class Seed {

    private final int events;

    Seed(int events) {
        this.events = events;
    }

    /** Fills the empty tables within the caller's transaction. */
    void write(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // The scripts hold no parameters: a session variable of this transaction carries the only one.
            setEvents(connection);
            statement.execute(RelaySchema.script("seed.sql"));
        }
    }

    private void setEvents(Connection connection) throws SQLException {
        try (PreparedStatement variable =
                connection.prepareStatement("SELECT set_config('relay.seed_rows', ?, true)")) {
            variable.setString(1, Integer.toString(events));
            variable.execute();
        }
    }
}
