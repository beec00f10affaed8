package dev.backfill;

import java.util.Objects;
import java.util.function.Function;

/**
 * What a definition does with the rows of one window. Begins with {@link #update}, {@link #rows}, {@link #statement}, {@link #delete}
 * or {@link #custom}.
 *
 * <p>Repairs are immutable. Each call returns a new value, and only the result of the last call can be given to a definition: a value
 * that was continued is refused there, and can't be continued a second time, so that no call is ever lost.
 *
 * @since 0.1
 */
public sealed interface Repair permits UpdateRepair, RowRepair, StatementRepair, DeleteRepair, Repair.Custom {

    /** One UPDATE over the window, the fastest style: {@code Repair.update().set("a", "…").set("b", "…").where("…")}. */
    static UpdateRepair update() {
        return UpdateRepair.empty();
    }

    /** A Java function over locked rows: {@code Repair.rows().reading("content").writing("search_text", row -> …)}. */
    static RowRepair rows() {
        return RowRepair.empty();
    }

    /**
     * One statement that takes the window's rows from {@code {window}}:
     * {@code Repair.statement("INSERT INTO … SELECT … FROM {window} AS w …")}.
     *
     * @param sql an INSERT, UPDATE, DELETE or MERGE of the host's own code, never input
     * @throws InvalidDefinitionException if it is no such statement or does not mention {@code {window}}
     */
    static StatementRepair statement(String sql) {
        return new StatementRepair(SqlFragments.statement("statement", sql), true);
    }

    /** One DELETE over the window, for retention: {@code Repair.delete().where("…")}. */
    static DeleteRepair delete() {
        return DeleteRepair.everything();
    }

    /** Own code in the batch's transaction; a lambda may be given to the definition directly, too. */
    static <K> Custom<K> custom(Custom<K> code) {
        return Objects.requireNonNull(code, "code");
    }

    /** Calls the function of the style at hand; adding a style breaks every caller at compile time. */
    default <T> T match(
            Function<? super UpdateRepair, ? extends T> update,
            Function<? super RowRepair, ? extends T> rows,
            Function<? super StatementRepair, ? extends T> statement,
            Function<? super DeleteRepair, ? extends T> delete,
            Function<? super Custom<?>, ? extends T> custom) {
        if (this instanceof UpdateRepair repair) {
            return update.apply(repair);
        }
        if (this instanceof RowRepair repair) {
            return rows.apply(repair);
        }
        if (this instanceof StatementRepair repair) {
            return statement.apply(repair);
        }
        if (this instanceof DeleteRepair repair) {
            return delete.apply(repair);
        }
        return custom.apply((Custom<?>) this);
    }

    /**
     * Repairs a window with the author's own code inside the batch's transaction.
     *
     * <p>Called on a worker's thread, or a rehearsal's, with a transaction open; must be safe to call again for the same window after a rollback. The
     * engine selects the window, derives the next checkpoint and commits; committing, rolling back or closing here is refused (AT-2).
     * Keys are selected, not locked: lock what you compute from ({@code SELECT … FOR NO KEY UPDATE}, in key order).
     *
     * @param <K> the key
     */
    @FunctionalInterface
    non-sealed interface Custom<K> extends Repair {

        /**
         * Repairs every row of the window that needs it.
         *
         * @param batch the window's keys
         * @param transaction the transaction that also carries the checkpoint
         * @return rows changed, for the counter that operators see; at least 0
         * @throws Exception rolls the batch back; {@link BlockedException} and {@link RetryableException} choose what happens next
         */
        long repair(Batch<K> batch, RepairTransaction transaction) throws Exception;
    }
}
