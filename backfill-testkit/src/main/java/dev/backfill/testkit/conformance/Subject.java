package dev.backfill.testkit.conformance;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.RequiredColumn;
import dev.backfill.Validation;
import java.sql.Connection;
import java.util.List;

/**
 * What is to be proven, and what its author says about it.
 *
 * @param definition the definition
 * @param seed creates tables and rows
 * @param ignored columns whose values may differ from run to run
 * @param tellsDoneRows whether a second pass leaves done rows alone
 * @param independentRows whether what becomes of a row depends on that row alone
 */
record Subject<K>(
        BackfillDefinition<K> definition,
        Seed seed,
        List<String> ignored,
        boolean tellsDoneRows,
        boolean independentRows) {

    /** Creates tables and rows. */
    interface Seed {
        void into(Connection database) throws Exception;
    }

    Subject(BackfillDefinition<K> definition, Seed seed) {
        this(definition, seed, List.of(), true, true);
    }

    /** The same definition with another batch size. */
    BackfillDefinition<K> inBatchesOf(int size) {
        return copy(definition.id().value(), size);
    }

    /** The same definition under another ID, as somebody would run it once more. */
    BackfillDefinition<K> onceMore() {
        return copy("conformance.second-pass", definition.batchSize());
    }

    private BackfillDefinition<K> copy(String id, int batchSize) {
        BackfillDefinition.Builder<K> builder =
                Backfill.define(id).over(definition.table(), definition.key()).batchSize(batchSize);
        BackfillDefinition.Builder<K> repairing = definition
                .repair()
                .<BackfillDefinition.Builder<K>>match(
                        builder::repair,
                        builder::repair,
                        builder::repair,
                        builder::repair,
                        custom -> builder.repair(custom(custom)));
        for (Validation proof : definition.validations()) {
            if (proof instanceof Validation.Custom<?> custom) {
                repairing.validate(custom(custom));
            } else {
                repairing.validate(proof);
            }
        }
        for (RequiredColumn column : definition.required()) {
            String table = column.table().toString();
            if (column.type() == null) {
                repairing.requires(table, column.column());
            } else {
                repairing.requires(table, column.column(), column.type());
            }
        }
        return repairing.build();
    }

    @SuppressWarnings("unchecked") // the builder took it for this very key
    private static <K> Repair.Custom<K> custom(Repair.Custom<?> repair) {
        return (Repair.Custom<K>) repair;
    }

    @SuppressWarnings("unchecked") // the builder took it for this very key
    private static <K> Validation.Custom<K> custom(Validation.Custom<?> proof) {
        return (Validation.Custom<K>) proof;
    }
}
