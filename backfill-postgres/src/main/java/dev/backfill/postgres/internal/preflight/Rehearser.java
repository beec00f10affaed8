package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.Family;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.Rehearsal.Sample;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.EndsSql;
import dev.backfill.postgres.internal.row.FamilySql;
import dev.backfill.postgres.internal.row.FamilySql.Range;
import dev.backfill.postgres.internal.row.FamilySql.Ranges;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.supervise.Deadline;
import dev.backfill.postgres.internal.supervise.OverdueException;
import dev.backfill.postgres.internal.supervise.Slots.Slot;
import dev.backfill.postgres.internal.validate.ValidationSql.Span;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A rehearsal: the real repair over real windows, each in a transaction of its own that is always rolled back. Holds no claim and
 * writes nothing of the library's own, so it can't move a row. Thread-safe.
 */
public final class Rehearser {

    // Three windows and the looking up must fit into the time that an operator's call may take.
    private static final Duration LONGEST_WINDOW = Duration.ofSeconds(2);
    // PostgreSQL's own limit comes first: what it says of a slow statement is worth more than that time is over.
    private static final Duration GRACE = Duration.ofMillis(500);

    private final Sessions sessions;
    private final Names names;
    private final EngineOptions options;
    private final Limits limits;

    /** Rehearses on those sessions, within those limits. */
    public Rehearser(Sessions sessions, Names names, EngineOptions options) {
        this.sessions = sessions;
        this.names = names;
        this.options = options;
        Duration most = options.transactionTimeout().compareTo(LONGEST_WINDOW) < 0
                ? options.transactionTimeout()
                : LONGEST_WINDOW;
        this.limits = Limits.ofOneLongStatement(most, options.lockTimeout());
    }

    /** The plan and the windows, looked up in the caller's transaction; the windows are not run yet. */
    public Prepared prepare(Session session, BackfillDefinition<?> definition, TableFacts facts, Row row)
            throws SQLException {
        PreparedDefinition prepared = PreparedDefinition.of(names, options, definition, facts);
        int limit = Math.min(definition.batchSize(), options.batchSizeCap());
        Range range = range(session, prepared, row);
        Span span = range.bound() == null ? null : new Span(range.low(), range.bound());
        Map<String, Optional<List<String>>> starts = new LinkedHashMap<>();
        if (span != null) {
            SampleSql samples = new SampleSql(
                    definition.table(),
                    prepared.key(),
                    definition.key().columns().get(0));
            starts.put("first", Optional.empty());
            Optional.ofNullable(samples.middle(session, span)).ifPresent(key -> starts.put("middle", Optional.of(key)));
            Optional.ofNullable(samples.beforeLast(session, span, limit))
                    .ifPresent(key -> starts.put("last", Optional.of(key)));
        }
        List<String> plan = new StatementProbe(names, options).summary(session, definition, facts);
        Long rows = facts.estimatedRows() == null ? null : (long) (facts.estimatedRows() * range.share());
        return new Prepared(prepared, row, span, limit, starts, plan, rows);
    }

    /** The range of a started row, or what a start would give it now; before a family's first start nobody can know the latter. */
    private Range range(Session session, PreparedDefinition prepared, Row row) throws SQLException {
        Family.Part part = prepared.definition().part().orElse(null);
        double share = part == null ? 1 : 1.0 / part.parts();
        if (row.state() != BackfillState.PENDING) {
            return new Range(row.rangeParts(), row.rangeLow(), row.bound(), share, null);
        }
        Optional<Ranges> family = part == null ? Optional.empty() : new FamilySql(names).find(session, part.family());
        return family.isPresent()
                ? family.get().of(Objects.requireNonNull(part).index())
                : new Range(null, null, new EndsSql(prepared.key()).greatest(session), share, null);
    }

    /**
     * What is to be rehearsed.
     *
     * @param definition the definition
     * @param row the row as it was read
     * @param span the keys to look at; null for an empty source or range
     * @param limit keys per window
     * @param starts the windows by position, each with the key after which it begins, or none for the span's own beginning
     * @param plan how a window is read
     * @param rows rows of the source, as estimated
     */
    public record Prepared(
            PreparedDefinition definition,
            Row row,
            @Nullable Span span,
            int limit,
            Map<String, Optional<List<String>>> starts,
            List<String> plan,
            @Nullable Long rows) {

        /** A claim for the repair's eyes only: its token is nobody's, so that no fence could ever let it pass. */
        private Claim claim(Optional<List<String>> after) {
            return new Claim(
                    row.id(),
                    row.no(),
                    BackfillState.RUNNING,
                    row.generation(),
                    UUID.randomUUID(),
                    "rehearsal",
                    span == null ? null : span.bound(),
                    span == null ? null : span.low(),
                    after.orElse(null),
                    0,
                    0,
                    false,
                    null);
        }
    }

    /**
     * Runs the windows, without any other transaction open, on a thread beside the caller's; ends with the first that does not come
     * back, because its thread is the only one that a rehearsal may cost.
     */
    public Rehearsal run(Prepared what, Slot slot) throws SQLException {
        List<Sample> samples = new ArrayList<>();
        for (Map.Entry<String, Optional<List<String>>> start : what.starts.entrySet()) {
            RehearsedWindow window =
                    new RehearsedWindow(sessions, options, limits, what, start.getKey(), what.claim(start.getValue()));
            try {
                samples.add(run(window, slot));
            } catch (OverdueException e) {
                samples.add(window.overdue());
                break;
            }
        }
        return new Rehearsal(what.limit, samples, what.plan, project(what.rows, samples));
    }

    private Sample run(RehearsedWindow window, Slot slot) throws SQLException, OverdueException {
        try {
            return slot.call(new Deadline(limits.statement().plus(GRACE), GRACE), window, window);
        } catch (SQLException | OverdueException | RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackfillUnavailableException(
                    Reason.UNAVAILABLE,
                    "The thread that asked for the rehearsal was interrupted. Nothing was changed; repeat the same request.",
                    null);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** From the cheapest window per key to the dearest, times the keys: a range, because three windows are no average. */
    private static Rehearsal.@Nullable Projection project(@Nullable Long rows, List<Sample> samples) {
        List<Sample> good = samples.stream()
                .filter(s -> s.failure() == null && s.scanned() > 0)
                .toList();
        if (rows == null || good.isEmpty()) {
            return null;
        }
        double[] changed = range(good, s -> (double) s.wouldChange());
        double[] took = range(good, s -> (double) s.took().toNanos());
        double[] wal = range(good, s -> (double) s.walBytes());
        return new Rehearsal.Projection(
                rows,
                (long) (changed[0] * rows),
                (long) Math.ceil(changed[1] * rows),
                Duration.ofNanos((long) (took[0] * rows)),
                Duration.ofNanos((long) (took[1] * rows)),
                (long) (wal[0] * rows),
                (long) (wal[1] * rows));
    }

    private static double[] range(List<Sample> samples, java.util.function.ToDoubleFunction<Sample> of) {
        return new double[] {
            samples.stream()
                    .mapToDouble(s -> of.applyAsDouble(s) / s.scanned())
                    .min()
                    .orElse(0),
            samples.stream()
                    .mapToDouble(s -> of.applyAsDouble(s) / s.scanned())
                    .max()
                    .orElse(0)
        };
    }
}
