package dev.backfill.postgres.schema;

import java.sql.SQLException;
import java.sql.Statement;
import org.flywaydb.core.api.callback.BaseCallback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;

/** Writes down in which transaction Flyway calls callbacks before migration 7. */
final class TransactionWitness extends BaseCallback {

    @Override
    public void handle(Event event, Context context) {
        if (event != Event.BEFORE_EACH_MIGRATE
                || !"7".equals(context.getMigrationInfo().getVersion().getVersion())) {
            return;
        }
        try (Statement statement = context.getConnection().createStatement()) {
            statement.execute("insert into seen values (pg_current_xact_id()::text::bigint)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
