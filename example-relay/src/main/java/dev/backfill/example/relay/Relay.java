package dev.backfill.example.relay;

import dev.backfill.admin.BackfillServlet;
import dev.backfill.admin.BearerTokens;
import dev.backfill.example.relay.database.EmbeddedServer;
import dev.backfill.example.relay.http.Administration;
import dev.backfill.example.relay.http.Listener;
import dev.backfill.example.relay.http.MetricsServlet;
import dev.backfill.example.relay.http.Serving;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.operate.BackfillOperations;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One relay process: listeners first, so that liveness and operators don't wait for the database, then the database, then the
 * engine. Closed in the opposite order. Thread-safe; may be closed while it starts.
 */
final class Relay implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Relay.class);
    private static final Readiness STARTING = new Readiness(
            Readiness.Input.unknown("starting"),
            Readiness.Input.unknown("starting"),
            Readiness.Input.unknown("starting"));

    private static final String BACKFILLS_PATH = "/admin/backfills/*";
    private static final String METRICS_PATH = "/metrics";

    private final RelayOptions options;
    private final String processName = "relay-" + ProcessHandle.current().pid();
    private final AtomicReference<@Nullable Pools> pools = new AtomicReference<>();
    private final AtomicReference<@Nullable Backfills> backfills = new AtomicReference<>();
    private final Deque<Part> parts = new ArrayDeque<>();
    private boolean closed;

    Relay(RelayOptions options) {
        this.options = options;
    }

    /** Starts everything that can be started; a database that is down is no reason to fail. */
    void start() throws IOException, InterruptedException {
        BearerTokens operators = OperatorTokens.of(options);
        Administration administration = new Administration(operators, BACKFILLS_PATH, METRICS_PATH);
        Listener admin = Listener.open("admin", options.adminPort(), administration.handler());
        started("operator port", admin);
        // Second: whoever hears that the relay lives finds its operator port open.
        Serving serving = new Serving(
                this::readiness, () -> Optional.ofNullable(pools.get()).map(Pools::serving));
        Listener ordinary = Listener.open("http", options.port(), serving);
        started("serving port", ordinary);
        LOG.info("Listening: port={} admin-port={} process={}", ordinary.port(), admin.port(), processName);

        Pools opened = Pools.open(jdbcUrl(), options.engine().workers(), processName);
        started("connection pools", opened);
        pools.set(opened);
        startEngine(opened, administration, operators);
        LOG.info("Started: auto-migrate={} auto-backfill={}", options.autoMigrate(), options.autoBackfill());
    }

    private void startEngine(Pools opened, Administration administration, BearerTokens operators) {
        Metrics metrics = new Metrics();
        Backfills engine = Engine.start(opened, options, operators, metrics, processName);
        started("engine", engine);
        metrics.watch(engine);
        BackfillOperations operations = engine.operations();
        administration.mount(BACKFILLS_PATH, new BackfillServlet(operations, operators, Listener::arrivedWhole));
        administration.mount(METRICS_PATH, new MetricsServlet(metrics.registry(), operations, operators));
        // Last: whoever reads in /readyz why the gate is closed finds the boundary that opens it (CF-3).
        backfills.set(engine);
    }

    private String jdbcUrl() throws IOException, InterruptedException {
        if (options.jdbcUrl().isPresent()) {
            return options.jdbcUrl().get();
        }
        EmbeddedServer server = EmbeddedServer.in(options.dataDir());
        started("embedded server", server);
        LOG.info("Embedded PostgreSQL: {} in {}", server.url(), options.dataDir());
        return server.url();
    }

    private Readiness readiness() {
        return Optional.ofNullable(backfills.get()).map(Backfills::readiness).orElse(STARTING);
    }

    private void started(String name, AutoCloseable part) {
        synchronized (parts) {
            if (!closed) {
                parts.push(new Part(name, part));
                return;
            }
        }
        new Part(name, part).stop(); // told to stop while it was being started
    }

    /** Stops in the opposite order; the engine first of all, so that its claims are released while there is a database. */
    @Override
    public void close() {
        Deque<Part> open;
        synchronized (parts) {
            closed = true;
            open = new ArrayDeque<>(parts);
            parts.clear();
        }
        open.forEach(Part::stop);
    }

    private record Part(String name, AutoCloseable resource) {
        void stop() {
            try {
                resource.close();
            } catch (Exception e) {
                LOG.warn("Stopping the {} failed: {}", name, e.getClass().getSimpleName());
            }
        }
    }
}
