package dev.backfill.postgres.internal.row;

import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.GuardedConnection;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.spi.AuditSink;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Writes audit records in the transaction of the change, to the library's table or the host's sink (AU-3). Immutable. */
public final class AuditSql {

    private final Names names;
    private final Sql insert;
    private final @Nullable AuditSink sink;

    /** Over the library's table, or the host's sink instead. */
    public AuditSql(Names names, @Nullable AuditSink sink) {
        this.names = names;
        this.sink = sink;
        insert = names.sql("""
                /* backfill:audit */ INSERT INTO {audit} (actor, authority, id, request_id, action, prior_state, resulting_state,
                  generation, outcome, note)
                VALUES (:actor, :authority, :id, :request_id, :action, :prior_state, :resulting_state, :generation, :outcome,
                  :note)""");
    }

    /**
     * Writes a record.
     *
     * @throws AuditFailedException whatever went wrong; the transaction must be rolled back
     */
    public void write(Session session, AuditRecord entry) throws AuditFailedException {
        try {
            if (sink == null) {
                record(session.connection(), entry);
            } else {
                hand(sink, session, entry);
            }
        } catch (Exception e) {
            throw new AuditFailedException(e);
        }
        if (session.isFailed() || session.isIdle()) {
            throw new AuditFailedException(
                    new IllegalStateException("the audit sink swallowed an error or ended the transaction"));
        }
    }

    private static void hand(AuditSink sink, Session session, AuditRecord entry) throws Exception {
        GuardedConnection guarded = new GuardedConnection(session.connection());
        try {
            sink.write(guarded.proxy(), entry);
        } finally {
            guarded.end();
        }
    }

    private void record(Connection connection, AuditRecord entry) throws SQLException {
        try {
            insert(connection, entry);
        } catch (SQLException e) {
            throw IdentityBehindException.of(e, names, "backfill_audit", "audit_id");
        }
    }

    private void insert(Connection connection, AuditRecord entry) throws SQLException {
        insert.update(
                connection,
                Params.of("actor", entry.authority().name())
                        .and("authority", entry.authority().kind().wireName())
                        .and("id", entry.id() == null ? null : entry.id().value())
                        .and("request_id", entry.requestId())
                        .and("action", entry.action())
                        .and("prior_state", wire(entry.priorState()))
                        .and("resulting_state", wire(entry.resultingState()))
                        .and("generation", entry.generation())
                        .and("outcome", entry.outcome().wireName())
                        .and("note", entry.note()));
    }

    private static @Nullable String wire(@Nullable BackfillState state) {
        return state == null ? null : state.wireName();
    }

    /** The audit record could not be written, so the change must not happen. */
    public static final class AuditFailedException extends SQLException {

        private static final long serialVersionUID = 1L;

        AuditFailedException(Exception cause) {
            super("the audit record could not be written", state(cause), cause);
        }

        // A sink of the host's that fails says nothing about the connection.
        private static String state(Exception cause) {
            return cause instanceof SQLException sql && sql.getSQLState() != null ? sql.getSQLState() : "P0001";
        }
    }
}
