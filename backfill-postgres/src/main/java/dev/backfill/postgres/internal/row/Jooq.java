package dev.backfill.postgres.internal.row;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.SQLException;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.ExecuteListener;
import org.jooq.SQLDialect;
import org.jooq.conf.MappedSchema;
import org.jooq.conf.RenderMapping;
import org.jooq.conf.Settings;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.DefaultExecuteListenerProvider;

/**
 * Statements composed from the generated classes, on a session's connection. For ledger, audit and reads, where composing pays; the
 * statements whose exact text is a guarantee are written out instead. Thread-safe.
 */
public final class Jooq {

    static {
        // A library does not greet in its host's log; a host that wants the greeting sets these itself.
        quiet("org.jooq.no-logo");
        quiet("org.jooq.no-tips");
    }

    private final Settings settings;

    private static void quiet(String property) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, "true");
        }
    }

    /** For the library's tables of one schema. */
    public Jooq(Names names) {
        settings = new Settings()
                .withExecuteLogging(false)
                .withRenderMapping(new RenderMapping()
                        .withSchemata(new MappedSchema().withInput("").withOutput(names.schema())));
    }

    /**
     * Runs statements; errors come as the SQLException they are.
     *
     * @param tag what the statements are tagged with, so that {@code pg_stat_activity} explains itself
     */
    public <T> T on(Session session, String tag, Function<DSLContext, T> work) throws SQLException {
        ExecuteListener tagging =
                ExecuteListener.onRenderEnd(context -> context.sql("/* backfill:" + tag + " */ " + context.sql()));
        try {
            return work.apply(DSL.using(new DefaultConfiguration()
                    .set(session.connection())
                    .set(SQLDialect.POSTGRES)
                    .set(settings)
                    .set(new DefaultExecuteListenerProvider(tagging))));
        } catch (DataAccessException e) {
            SQLException sql = e.getCause(SQLException.class);
            throw sql == null ? new SQLException("jOOQ could not run a statement", e) : sql;
        }
    }
}
