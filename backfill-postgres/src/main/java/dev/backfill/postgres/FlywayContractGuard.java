package dev.backfill.postgres;

import dev.backfill.postgres.internal.jdbc.Redaction;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.jspecify.annotations.Nullable;

/**
 * The contract guard as a Flyway callback, for migrations written in SQL:
 * {@code Flyway.configure().callbacks(FlywayContractGuard.before("7", ContractGuard.of("events.thread-root.v1")).callback())}. Flyway
 * calls it inside the transaction of the migration, before its first statement. A migration written in Java calls {@link ContractGuard}
 * itself, with the connection of its context. Immutable; needs Flyway 10 or newer on the class path, which the rest of the library does
 * not.
 *
 * @since 0.1
 */
public final class FlywayContractGuard {

    private final Map<MigrationVersion, ContractGuard> guards;

    private FlywayContractGuard(Map<MigrationVersion, ContractGuard> guards) {
        this.guards = guards;
    }

    /**
     * Guards one migration.
     *
     * @param version its version, as Flyway shows it
     * @param guard what must have completed
     */
    public static FlywayContractGuard before(String version, ContractGuard guard) {
        return new FlywayContractGuard(Map.of()).andBefore(version, guard);
    }

    /** Guards another one too. */
    public FlywayContractGuard andBefore(String version, ContractGuard guard) {
        Map<MigrationVersion, ContractGuard> more = new LinkedHashMap<>(guards);
        more.put(MigrationVersion.fromVersion(version), guard);
        return new FlywayContractGuard(more);
    }

    /** What to give to Flyway. */
    public Callback callback() {
        // Flyway 11.14 has these methods in a generic interface that 11.7 does not know. A class compiled against one
        // has methods that
        // name, or lack, a type of the other; a proxy has what the Flyway at hand asks for.
        return (Callback) Proxy.newProxyInstance(
                Callback.class.getClassLoader(),
                new Class<?>[] {Callback.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "supports" -> arguments[0] == Event.BEFORE_EACH_MIGRATE;
                    case "canHandleInTransaction" -> true;
                    case "handle" -> handle((Context) arguments[1]);
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> "backfill contract guard";
                });
    }

    private @Nullable Object handle(Context context) {
        MigrationVersion version = context.getMigrationInfo().getVersion();
        ContractGuard guard = version == null ? null : guards.get(version);
        if (guard == null) {
            return null;
        }
        try {
            guard.check(context.getConnection());
            return null;
        } catch (SQLException e) {
            throw new FlywayException(
                    "Whether the backfills of migration " + version
                            + " have completed could not be asked, so it was not begun.",
                    Redaction.of(e));
        }
    }
}
