package dev.backfill.postgres.internal.startup;

import dev.backfill.BackfillException;
import dev.backfill.BackfillId;
import dev.backfill.BackfillUnavailableException;
import dev.backfill.Readiness;
import dev.backfill.Readiness.Input;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.operator.PlaneContext;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The readiness gate, rebuilt from PostgreSQL (CF-2). Answers are shared for a second, because probes come from many places at once;
 * once the required set is completed it stays so without a query, because completion is immutable (LC-3). Thread-safe.
 */
final class Gatekeeper {

    private static final long SHARED_FOR = Duration.ofSeconds(1).toNanos();

    private final Boot boot;
    private final Set<BackfillId> required;
    private final Supplier<Boolean> started;
    private @Nullable Readiness last;
    private long lastAt;
    private boolean completedForEver;

    Gatekeeper(Boot boot, Set<BackfillId> required, Supplier<Boolean> started) {
        this.boot = boot;
        this.required = required;
        this.started = started;
    }

    synchronized Readiness readiness() {
        if (last != null && System.nanoTime() - lastAt < SHARED_FOR) {
            return last;
        }
        last = look();
        lastAt = System.nanoTime();
        return last;
    }

    private Readiness look() {
        PlaneContext plane;
        try {
            plane = boot.context();
        } catch (BackfillUnavailableException e) {
            return withoutContext(e);
        }
        Map<String, String> open;
        try {
            open = notCompleted(plane);
        } catch (SQLException e) {
            Input backfills = completedForEver ? Input.open() : Input.unknown("PostgreSQL can't be read.");
            return new Readiness(Input.unknown("PostgreSQL can't be read."), Input.open(), backfills);
        }
        if (!started.get()) {
            BackfillException problem = boot.problem();
            String why =
                    problem == null || problem.getMessage() == null ? "Startup is not complete." : problem.getMessage();
            return new Readiness(Input.open(), Input.open(), Input.closed(why));
        }
        if (open.isEmpty()) {
            completedForEver = true;
            return new Readiness(Input.open(), Input.open(), Input.open());
        }
        StringBuilder why = new StringBuilder("Required backfills are not completed:");
        open.forEach((id, state) ->
                why.append(' ').append(id).append(" is ").append(state).append(';'));
        why.setCharAt(why.length() - 1, '.');
        return new Readiness(Input.open(), Input.open(), Input.closed(why.toString()));
    }

    private Readiness withoutContext(BackfillUnavailableException e) {
        String why = e.getMessage() == null ? e.reason().wireName() : e.getMessage();
        Input backfills = required.isEmpty() ? Input.open() : Input.unknown("The backfills can't be read.");
        return switch (e.reason()) {
            case SCHEMA_MISSING, SCHEMA_INCOMPATIBLE, PRIVILEGE_MISSING ->
                new Readiness(Input.open(), Input.closed("schema: " + why), backfills);
            case UNAVAILABLE, BUSY, AUDIT_UNAVAILABLE ->
                new Readiness(Input.unknown(why), Input.unknown("The schema can't be read."), backfills);
        };
    }

    /** Required backfills that are not completed, with state or code; also the proof that PostgreSQL can be read. */
    private Map<String, String> notCompleted(PlaneContext plane) throws SQLException {
        if (completedForEver || required.isEmpty()) {
            plane.engine().control().inTransaction(session -> true);
            return Map.of();
        }
        String[] ids = required.stream().map(BackfillId::value).toArray(String[]::new);
        return plane.engine().control().inTransaction(session -> {
            Map<String, String> open = new LinkedHashMap<>();
            try (PreparedStatement statement =
                            plane.engine().names().sql("""
                                    /* backfill:gate */ SELECT r.id, coalesce(b.state, 'not registered') AS state, b.failure_code
                                    FROM unnest(:ids::text[]) AS r (id) LEFT JOIN {backfill} AS b ON b.id = r.id
                                    WHERE b.state IS DISTINCT FROM 'completed' ORDER BY r.id""").prepare(session.connection(), Params.of("ids", ids));
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String code = row.getString("failure_code");
                    open.put(row.getString("id"), row.getString("state") + (code == null ? "" : " (" + code + ")"));
                }
            }
            return open;
        });
    }
}
