package dev.backfill.benchmarks.rivals;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.RepairTransaction;
import dev.backfill.Validation;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;

/** This library, stepped until the checkpoint has reached the bound; the validation that follows is not part of what others do. */
public final class Library implements Rival {

    private final Style style;

    /** In one of its styles. */
    public Library(Style style) {
        this.style = style;
    }

    /** How it repairs. */
    public enum Style {
        /** One UPDATE over the window. */
        SET,
        /** A Java function over locked rows. */
        ROW,
        /** Own code with the window's keys. */
        CUSTOM;

        /** The name in IDs and on command lines. */
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String name() {
        return "Backfill, "
                + switch (style) {
                    case SET -> "set style";
                    case ROW -> "Java function";
                    case CUSTOM -> "custom style";
                };
    }

    @Override
    public String key() {
        return style.key();
    }

    @Override
    public boolean ours() {
        return true;
    }

    /** The repair of {@code items} as a definition. */
    public static BackfillDefinition<Long> definition(String id, String table, Style style, int batchSize) {
        BackfillDefinition.Builder<Long> builder =
                Backfill.define(id).over(table, Keys.bigint("id")).batchSize(batchSize);
        builder = switch (style) {
            case SET ->
                builder.repair(Repair.update().set("name_upper", Items.EXPRESSION).where(Items.NEEDED));
            case ROW ->
                builder.repair(Repair.rows().reading("name")
                        .writing(
                                "name_upper",
                                row -> String.valueOf(row.text("name")).toUpperCase(Locale.ROOT))
                        .where(Items.NEEDED));
            case CUSTOM -> builder.repair(Library::custom);
        };
        return builder.validate(Validation.noRowMatches(Items.NEEDED)).build();
    }

    private static long custom(Batch<Long> batch, RepairTransaction transaction) throws SQLException {
        try (PreparedStatement repair = transaction
                .connection()
                .prepareStatement("update items set name_upper = " + Items.EXPRESSION + " where id = any (?) and "
                        + Items.NEEDED)) {
            Array keys = transaction
                    .connection()
                    .createArrayOf("bigint", batch.keys().toArray());
            repair.setArray(1, keys);
            return repair.executeUpdate();
        }
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws Exception {
        HikariDataSource pool = database.pool(3);
        BackfillDefinition<Long> definition = definition("items." + key() + ".v1", "items", style, batchSize);
        Backfills backfills =
                Engines.open(pool, EngineOptions.builder().workers(0).build(), definition);
        return new Ready() {
            @Override
            public void run() throws Exception {
                Engines.start(backfills, definition.id());
                try (BackfillWorker worker = backfills.worker("benchmark")) {
                    Engines.toTheBound(worker);
                }
            }

            @Override
            public void close() {
                backfills.close();
                pool.close();
            }
        };
    }
}
