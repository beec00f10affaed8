package dev.backfill.postgres.internal.startup;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillException;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.host.Readiness;
import dev.backfill.host.Readiness.Input;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.internal.control.BootStart;
import dev.backfill.postgres.internal.control.Unavailability;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.NoConnectionException;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.LibraryVersion;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.Registry;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One look at what readiness depends on. PostgreSQL decides each time: completion is immutable there (LC-3), but a failover or a restore
 * may have put another history in its place, so nothing is remembered from an earlier look (CF-2). Never throws. Thread-safe.
 */
final class ReadinessLook implements Supplier<Readiness> {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int MOST_WORDS = 300;
    private static final String STARTING = "Startup is not complete.";

    // What was completed in another format, by another key or over another range has not done what is required here
    // (ID-5).
    private static final String NOT_COMPLETED =
            "/* backfill:gate */ SELECT * FROM (SELECT r.id, coalesce(b.state, 'not registered') AS state, b.failure_code, CASE"
                    + " WHEN b.id IS NULL THEN 'readable' ELSE " + Readability.SQL + """
             END AS readable
            FROM (SELECT id, codec, nullif(parts, '')::integer AS parts
              FROM unnest(:ids::text[], :parts::text[], :codecs::text[]) AS u (id, parts, codec)) AS r
            LEFT JOIN {backfill} AS b ON b.id = r.id) AS required
            WHERE state <> 'completed' OR readable <> 'readable' ORDER BY id""";

    private final StartupSteps boot;
    private final Registry registry;
    private final Set<BackfillId> required;
    private final Supplier<Boolean> started;
    private final AtomicReference<String> logged = new AtomicReference<>("");

    ReadinessLook(StartupSteps boot, Registry registry, Supplier<Boolean> started) {
        this.boot = boot;
        this.registry = registry;
        this.required = registry.required();
        this.started = started;
    }

    @Override
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // A host asks whether it is ready, and is told "unknown" whatever fails.
    public Readiness get() {
        try {
            EngineGraph engine = boot.engine(PATIENCE);
            Map<String, String> open = notCompleted(engine);
            return started.get() ? decided(open) : starting();
        } catch (BackfillUnavailableException e) {
            return unusable(e);
        } catch (SQLException e) {
            Throwable thrown = e instanceof NoConnectionException ? e.getCause() : e;
            return thrown instanceof RuntimeException || thrown instanceof Error
                    ? failed(thrown)
                    : unusable(Unavailability.of(e));
        } catch (RuntimeException | Error e) {
            return failed(e);
        }
    }

    /** A defect of the host's source of connections, or of what is on the class path. */
    private Readiness failed(Throwable e) {
        String what = named(e);
        if (!what.equals(logged.getAndSet(what))) {
            LOG.atError()
                    .setCause(Redaction.of(e))
                    .addKeyValue("class", what)
                    .addKeyValue("version", LibraryVersion.TEXT)
                    .log(
                            "Readiness can't be told: the host's source of connections or a class that Backfill needs failed");
        }
        String why = "The host's source of connections or a class that Backfill needs failed (" + what + ").";
        return unusable(new BackfillUnavailableException(
                BackfillUnavailableException.Reason.UNAVAILABLE, why, Redaction.of(e)));
    }

    /** The class of an error; of a class that can't be loaded the JVM's own words, which hold names and versions only. */
    static String named(Throwable e) {
        String type = e.getClass().getName();
        return e instanceof LinkageError ? BoundedText.clean(type + ": " + e.getMessage(), MOST_WORDS) : type;
    }

    private Readiness decided(Map<String, String> open) {
        if (open.isEmpty()) {
            return new Readiness(Input.open(), Input.open(), Input.open());
        }
        BackfillException problem = boot.problem();
        return new Readiness(
                Input.open(),
                Input.open(),
                Input.closed(why(open) + (problem == null ? "" : " " + problem.getMessage())));
    }

    /** A family's parts are told together, or a hundred of them would hide the rest. */
    private String why(Map<String, String> open) {
        StringBuilder why = new StringBuilder("Required backfills are not completed:");
        Map<BackfillId, SortedMap<String, Integer>> families = new LinkedHashMap<>();
        open.forEach((id, state) -> {
            Family.Part part = part(id);
            if (part == null) {
                why.append(' ').append(id).append(" is ").append(state).append(';');
            } else {
                families.computeIfAbsent(part.family(), f -> new TreeMap<>()).merge(state, 1, Integer::sum);
            }
        });
        families.forEach((family, states) -> {
            why.append(" of the parts of family ").append(family);
            states.forEach((state, parts) -> why.append(' ')
                    .append(parts)
                    .append(parts == 1 ? " is " : " are ")
                    .append(state)
                    .append(','));
            why.setCharAt(why.length() - 1, ';');
        });
        why.setCharAt(why.length() - 1, '.');
        return why.toString();
    }

    private Family.@Nullable Part part(String id) {
        return registry.find(id).flatMap(BackfillDefinition::part).orElse(null);
    }

    /** PostgreSQL answers, but this engine is not up: the schema is to blame until it is settled, the gate afterwards. */
    private Readiness starting() {
        BackfillException problem = boot.problem();
        String why = problem == null || problem.getMessage() == null ? STARTING : problem.getMessage();
        boolean settled = boot.schemaSettled()
                && !(problem instanceof BackfillUnavailableException unavailable && isOfSchema(unavailable));
        return new Readiness(
                Input.open(),
                settled ? Input.open() : Input.closed(why),
                required.isEmpty() ? Input.open() : Input.closed(settled ? why : STARTING));
    }

    private Readiness unusable(BackfillUnavailableException e) {
        String why = e.getMessage() == null ? e.reason().wireName() : e.getMessage();
        Input backfills = required.isEmpty() ? Input.open() : Input.unknown("The backfills can't be read.");
        if (isOfSchema(e)) {
            return new Readiness(Input.open(), Input.closed(why), backfills);
        }
        return new Readiness(Input.unknown(why), Input.unknown("The schema can't be read."), backfills);
    }

    private static boolean isOfSchema(BackfillUnavailableException e) {
        return switch (e.reason()) {
            case SCHEMA_MISSING, SCHEMA_INCOMPATIBLE, PRIVILEGE_MISSING -> true;
            case UNAVAILABLE, BUSY, AUDIT_UNAVAILABLE -> false;
        };
    }

    /** Required backfills that are not completed, with state or code; also the proof that PostgreSQL can be read and the tables are whole. */
    private Map<String, String> notCompleted(EngineGraph engine) throws SQLException {
        // Limits of its own: who probes must hear of a silent server soon.
        Transactions probe =
                new Transactions(engine.sessions(), new Limits(PATIENCE, PATIENCE, PATIENCE, PATIENCE), PATIENCE);
        if (required.isEmpty()) {
            return probe.inTransaction(session -> {
                boot.requireTables(session, engine.names());
                return Map.of();
            });
        }
        String[] ids = required.stream().map(BackfillId::value).toArray(String[]::new);
        String[] parts = required.stream().map(this::parts).toArray(String[]::new);
        String[] codecs = required.stream().map(this::codec).toArray(String[]::new);
        return probe.inTransaction(session -> {
            boot.requireTables(session, engine.names());
            Map<String, String> open = new LinkedHashMap<>();
            try (PreparedStatement statement = engine.names()
                            .sql(NOT_COMPLETED)
                            .prepare(
                                    session.connection(),
                                    Params.of("ids", ids).and("parts", parts).and("codecs", codecs));
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String id = row.getString("id");
                    String code = code(id, row.getString("failure_code"));
                    Readability judged = Readability.ofWireName(row.getString("readable"));
                    open.put(
                            id,
                            row.getString("state")
                                    + (judged.yes() ? "" : ", but " + judged.why())
                                    + (code == null ? "" : " (" + code + ")"));
                }
            }
            return open;
        });
    }

    /** How many parts the family of a required backfill has; empty text for one of a whole source. */
    private String parts(BackfillId id) {
        Family.Part part = part(id.value());
        return part == null ? "" : Integer.toString(part.parts());
    }

    /** How a required backfill that was started must have stored its keys. */
    private String codec(BackfillId id) {
        return registry.find(id.value()).orElseThrow().key().codec();
    }

    private @Nullable String code(String id, @Nullable String failureCode) {
        BootStart.Refusal refused = boot.refused().get(BackfillId.of(id));
        return failureCode == null && refused != null ? refused.code().wireName() : failureCode;
    }
}
