package dev.backfill.postgres.internal.batch;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.KeySql;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A definition with its statements compiled for the table as the catalog had it when its claim was taken.
 *
 * @param definition the definition
 * @param key how its key is spelled
 * @param repair how a window is repaired
 * @param begin how a batch begins
 * @param fence how a batch commits
 * @param flush how a batch is sent in one flush; null where PostgreSQL's count of updated rows can't be used, or none is wanted
 */
public record PreparedDefinition(
        BackfillDefinition<?> definition,
        KeySql key,
        WindowRepair repair,
        BeginSql begin,
        FenceSql fence,
        @Nullable OneFlush flush) {

    /** Whether an index names the rows that need the repair. */
    public boolean byIndex() {
        return fence.unread();
    }

    public static PreparedDefinition of(
            Names names, EngineOptions options, BackfillDefinition<?> definition, TableFacts facts) {
        return of(names, options, definition, facts, false);
    }

    /**
     * Compiles one.
     *
     * @param byIndex whether an index names the rows that need the repair
     */
    public static PreparedDefinition of(
            Names names, EngineOptions options, BackfillDefinition<?> definition, TableFacts facts, boolean byIndex) {
        KeySql key = new KeySql(definition.table(), definition.key());
        WindowRepair repair = repair(definition, key, facts, options.idleInTransactionTimeout(), byIndex);
        boolean barrier = definition.startBarrier();
        BeginSql begin = new BeginSql(names, options, barrier, key.table(), repair, facts.oid());
        FenceSql fence = new FenceSql(names, key, options, barrier, byIndex);
        OneFlush flush = options.fusedCommit() && facts.plain()
                ? new OneFlush(names, key, repair, begin, fence, facts.oid())
                : null;
        return new PreparedDefinition(definition, key, repair, begin, fence, flush);
    }

    private static <K> WindowRepair repair(
            BackfillDefinition<K> definition, KeySql key, TableFacts facts, Duration idle, boolean byIndex) {
        return definition
                .repair()
                .match(
                        update -> SqlWindow.update(key, update, facts, byIndex),
                        rows -> new RowWindow(key, definition.table().name(), rows, facts, idle, byIndex),
                        statement -> SqlWindow.statement(key, statement, facts),
                        delete -> SqlWindow.delete(key, delete, facts, byIndex),
                        custom -> new CustomWindow<>(key, definition, typed(custom), idle));
    }

    @SuppressWarnings("unchecked") // The definition's builder takes a repair for its own key type only.
    private static <K> Repair.Custom<K> typed(Repair.Custom<?> custom) {
        return (Repair.Custom<K>) custom;
    }
}
