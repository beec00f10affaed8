package dev.backfill.postgres;

import dev.backfill.postgres.internal.jdbc.Redaction;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.jspecify.annotations.Nullable;

/**
 * The contract guard as a Flyway callback, for migrations written in SQL:
 * {@code Flyway.configure().callbacks(FlywayContractGuard.before("7", "events.thread-root.v1"))}. Flyway calls it inside the
 * transaction of the migration, before its first statement. A migration written in Java calls {@link ContractGuard} itself, with the
 * connection of its context. Immutable; needs Flyway on the class path, which the rest of the library does not.
 *
 * @since 0.1
 */
public final class FlywayContractGuard implements Callback {

    private final @Nullable String schema;
    private final Map<MigrationVersion, List<String>> required;

    private FlywayContractGuard(@Nullable String schema, Map<MigrationVersion, List<String>> required) {
        this.schema = schema;
        this.required = required;
    }

    /**
     * Guards one migration.
     *
     * @param version its version, as Flyway shows it
     * @param ids what must have completed
     */
    public static FlywayContractGuard before(String version, String... ids) {
        return new FlywayContractGuard(null, Map.of()).andBefore(version, ids);
    }

    /** Guards another one too. */
    public FlywayContractGuard andBefore(String version, String... ids) {
        if (ids.length == 0) {
            throw new IllegalArgumentException("a contract guard needs the ID of at least one backfill");
        }
        Map<MigrationVersion, List<String>> more = new LinkedHashMap<>(required);
        more.put(MigrationVersion.fromVersion(version), List.of(ids));
        return new FlywayContractGuard(schema, more);
    }

    /** The schema of the library's tables; default the search path that Flyway sets. */
    public FlywayContractGuard inSchema(String name) {
        return new FlywayContractGuard(name, required);
    }

    @Override
    public boolean supports(Event event, Context context) {
        return event == Event.BEFORE_EACH_MIGRATE;
    }

    @Override
    public boolean canHandleInTransaction(Event event, Context context) {
        return true;
    }

    @Override
    public void handle(Event event, Context context) {
        MigrationVersion version = context.getMigrationInfo().getVersion();
        List<String> ids = version == null ? null : required.get(version);
        if (ids == null) {
            return;
        }
        try {
            ContractGuard.requireCompletedIn(schema, context.getConnection(), ids.toArray(new String[0]));
        } catch (SQLException e) {
            throw new FlywayException(
                    "Whether the backfills of migration " + version
                            + " have completed could not be asked, so it was not begun.",
                    Redaction.of(e));
        }
    }

    @Override
    public String getCallbackName() {
        return "backfill contract guard";
    }
}
