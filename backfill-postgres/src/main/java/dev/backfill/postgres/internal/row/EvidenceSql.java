package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/** Reads what a definition left behind when it was registered, and which server answers. Immutable. */
public final class EvidenceSql {

    private final Sql select;

    /** Compiles the statement. */
    public EvidenceSql(Names names) {
        select = names.sql("""
                /* backfill:evidence */ SELECT pg_catalog.now() AS as_of, pg_catalog.current_setting('server_version') AS server,
                  d.table_name, d.style, d.batch_size, d.updated_at, d.library_version
                FROM (SELECT 1) AS one LEFT JOIN {definition} AS d ON d.id = :id""");
    }

    /**
     * What is known; the definition's members are null when none was ever registered.
     *
     * @param asOf when this was read
     * @param server the server's version
     * @param table the table as the definition names it
     * @param style the style of its repair
     * @param batchSize its largest batch
     * @param lastRegisteredAt when a process registered it last, to the minute
     * @param library the version of the library that did
     */
    public record Registered(
            Instant asOf,
            String server,
            @Nullable String table,
            @Nullable String style,
            @Nullable Integer batchSize,
            @Nullable Instant lastRegisteredAt,
            @Nullable String library) {}

    /** Reads it in the session's transaction. */
    public Registered read(Session session, BackfillId id) throws SQLException {
        try (PreparedStatement statement = select.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            OffsetDateTime registered = row.getObject("updated_at", OffsetDateTime.class);
            return new Registered(
                    row.getObject("as_of", OffsetDateTime.class).toInstant(),
                    row.getString("server"),
                    row.getString("table_name"),
                    row.getString("style"),
                    row.getObject("batch_size", Integer.class),
                    registered == null ? null : registered.toInstant(),
                    row.getString("library_version"));
        }
    }
}
