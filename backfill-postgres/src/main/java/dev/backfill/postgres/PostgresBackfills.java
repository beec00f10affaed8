package dev.backfill.postgres;

import dev.backfill.BackfillDefinition;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.internal.BoundedText;
import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.startup.Configuration;
import dev.backfill.postgres.internal.startup.EngineBackfills;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.spi.OperatorAuthorizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a host begins: {@code PostgresBackfills.on(dataSource)…startup()}. Give the engine a pool of its own, with two connections
 * more than workers, in auto-commit mode.
 *
 * @since 0.1
 */
public final class PostgresBackfills implements Backfills.Builder {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final ConnectionSource connections;
    private final List<BackfillDefinition<?>> definitions = new ArrayList<>();
    private final List<String> required = new ArrayList<>();
    private final List<BackfillListener> listeners = new ArrayList<>();
    private SchemaMode mode = SchemaMode.VERIFY;
    private @Nullable String schemaName;
    private EngineOptions options = EngineOptions.defaults();
    private @Nullable OperatorAuthorizer authorizer;
    private @Nullable AuditSink sink;
    private Backfills.@Nullable HostMigrations hostMigrations;
    private String processName = hostName() + "-" + ProcessHandle.current().pid();

    private PostgresBackfills(ConnectionSource connections) {
        this.connections = connections;
    }

    /**
     * What the environment calls this machine: in a container, where every process has the same ID, the container or pod. The resolver is
     * not asked, because it may take its time.
     */
    private static String hostName() {
        String name = System.getenv("HOSTNAME");
        return name == null || name.isBlank() ? "host" : BoundedText.clean(name, 60);
    }

    /** Begins to configure an engine on a data source of PostgreSQL 14 or newer. */
    public static Backfills.Builder on(DataSource dataSource) {
        return new PostgresBackfills(Objects.requireNonNull(dataSource, "dataSource")::getConnection);
    }

    /** As {@link #on(DataSource)}, for any other source of connections. */
    public static Backfills.Builder on(ConnectionSource connections) {
        return new PostgresBackfills(Objects.requireNonNull(connections, "connections"));
    }

    @Override
    public Backfills.Builder definitions(BackfillDefinition<?>... given) {
        return definitions(Arrays.asList(Objects.requireNonNull(given, "definitions")));
    }

    @Override
    public Backfills.Builder definitions(Iterable<? extends BackfillDefinition<?>> given) {
        Objects.requireNonNull(given, "definitions")
                .forEach(definition -> definitions.add(Objects.requireNonNull(definition, "definition")));
        return this;
    }

    @Override
    public Backfills.Builder requiredAtStartup(String... ids) {
        for (String id : Objects.requireNonNull(ids, "ids")) {
            required.add(Objects.requireNonNull(id, "id"));
        }
        return this;
    }

    @Override
    public Backfills.Builder schema(SchemaMode given) {
        this.mode = Objects.requireNonNull(given, "mode");
        return this;
    }

    @Override
    public Backfills.Builder schemaName(String schema) {
        this.schemaName = Identifiers.check("schema", schema, InvalidDefinitionException::new);
        return this;
    }

    @Override
    public Backfills.Builder options(EngineOptions given) {
        this.options = Objects.requireNonNull(given, "options");
        return this;
    }

    @Override
    public Backfills.Builder operators(OperatorAuthorizer given) {
        this.authorizer = Objects.requireNonNull(given, "authorizer");
        return this;
    }

    @Override
    public Backfills.Builder audit(AuditSink given) {
        this.sink = Objects.requireNonNull(given, "sink");
        return this;
    }

    @Override
    public Backfills.Builder listener(BackfillListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    @Override
    public Backfills.Builder hostMigrations(Backfills.HostMigrations migrations) {
        this.hostMigrations = Objects.requireNonNull(migrations, "migrations");
        return this;
    }

    @Override
    public Backfills.Builder processName(String name) {
        Objects.requireNonNull(name, "name");
        if (name.isBlank() || name.length() > 100) {
            throw new InvalidDefinitionException(
                    "The process name must be 1 to 100 characters, got " + name.length() + ".");
        }
        this.processName = BoundedText.clean(name, 100);
        return this;
    }

    @Override
    public Backfills startup() {
        if (authorizer == null) {
            LOG.atWarn()
                    .log(
                            "Nobody may read or steer backfills through this process, because no authorizer was given and the default"
                                    + " denies everybody. Give one with operators(...) on the builder;"
                                    + " operators(OperatorAuthorizer.denyAll()) says that this is meant");
        }
        return EngineBackfills.startup(new Configuration(
                connections,
                new Registry(definitions, required),
                mode,
                schemaName,
                options,
                authorizer == null ? OperatorAuthorizer.denyAll() : authorizer,
                sink,
                List.copyOf(listeners),
                hostMigrations,
                processName));
    }
}
