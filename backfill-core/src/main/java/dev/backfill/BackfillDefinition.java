package dev.backfill;

import dev.backfill.internal.BoundedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One repair, declared in code under a stable ID: source, batch, repair, validation and what it needs. Immutable; thread-safe if
 * its functions are. Made by {@link Backfill#define}.
 *
 * @param <K> the key its own code sees
 * @since 0.1
 */
public final class BackfillDefinition<K> {

    /** The largest batch size a definition may declare. */
    public static final int MAX_BATCH_SIZE = 100_000;

    /** The batch size of a definition that declares none. */
    public static final int DEFAULT_BATCH_SIZE = 1_000;

    private final BackfillId id;
    private final String description;
    private final Map<String, String> labels;
    private final TableName table;
    private final KeyType<K> key;
    private final int batchSize;
    private final Repair repair;
    private final List<Validation> validations;
    private final List<RequiredColumn> required;
    private final Pacing pacing;
    private final boolean shipsWithWritePath;
    private final boolean startBarrier;
    private final Family.@Nullable Part part;

    private BackfillDefinition(Builder<K> from, Repair repair) {
        this.id = from.id;
        this.description = from.description;
        this.labels = Map.copyOf(from.labels);
        this.table = from.table;
        this.key = from.key;
        this.batchSize = from.batchSize;
        this.repair = repair;
        this.validations = List.copyOf(from.validations);
        this.required = List.copyOf(from.required);
        this.pacing = from.pacing;
        this.shipsWithWritePath = from.shipsWithWritePath;
        this.startBarrier = from.startBarrier;
        this.part = null;
    }

    private BackfillDefinition(BackfillDefinition<K> whole, BackfillId id, Family.Part part) {
        this.id = id;
        this.description = whole.description;
        this.labels = whole.labels;
        this.table = whole.table;
        this.key = whole.key;
        this.batchSize = whole.batchSize;
        this.repair = whole.repair;
        this.validations = whole.validations;
        this.required = whole.required;
        this.pacing = whole.pacing;
        this.shipsWithWritePath = whole.shipsWithWritePath;
        this.startBarrier = whole.startBarrier;
        this.part = part;
    }

    /**
     * The same repair over so many disjoint key ranges, each under an ID of its own, for several workers and hosts at once. Give the
     * host the family instead of this definition.
     *
     * @param parts 2 to 100; belongs to the family's identity and can't be changed under this ID
     * @throws InvalidDefinitionException if the number is out of range, the ID is longer than 125 characters, or this is a part itself
     */
    public Family<K> inRanges(int parts) {
        if (part != null) {
            throw new InvalidDefinitionException("Backfill " + id + " is a part of family " + part.family()
                    + " already. Divide the whole into more ranges, under an ID of its own.");
        }
        return new Family<>(this, parts);
    }

    BackfillDefinition<K> part(BackfillId partId, Family.Part of) {
        return new BackfillDefinition<>(this, partId, of);
    }

    /** Which part of a family this is; empty for a definition of a whole source. */
    public Optional<Family.Part> part() {
        return Optional.ofNullable(part);
    }

    /** The stable ID. */
    public BackfillId id() {
        return id;
    }

    /** One sentence for operators; may be empty. */
    public String description() {
        return description;
    }

    /** Labels for operators. */
    public Map<String, String> labels() {
        return labels;
    }

    /** The source table. */
    public TableName table() {
        return table;
    }

    /** The key that orders the source. */
    public KeyType<K> key() {
        return key;
    }

    /** The most keys that one batch scans (BB-1). */
    public int batchSize() {
        return batchSize;
    }

    /** What is done with a window. */
    public Repair repair() {
        return repair;
    }

    /** The proofs; all must hold. */
    public List<Validation> validations() {
        return validations;
    }

    /** Columns that must exist besides those of the source and the repair. */
    public List<RequiredColumn> required() {
        return required;
    }

    /** How hard it may press, unless an operator says otherwise. */
    public Pacing pacing() {
        return pacing;
    }

    /** Whether it ships in the release of its own write path, and is therefore manual-only (CF-7). */
    public boolean shipsWithWritePath() {
        return shipsWithWritePath;
    }

    /** Whether the first window waits for transactions that wrote before the bound was captured (SR-6). */
    public boolean startBarrier() {
        return startBarrier;
    }

    @Override
    public String toString() {
        return "backfill " + id + " over " + table + " by " + key;
    }

    /**
     * Collects one definition; a call after {@link #build} is refused. Confined to one thread.
     *
     * @param <K> the key
     */
    public static final class Builder<K> {

        private final BackfillId id;
        private final String description;
        private final TableName table;
        private final KeyType<K> key;
        private final Map<String, String> labels = new TreeMap<>();
        private int batchSize = DEFAULT_BATCH_SIZE;
        private @Nullable Repair repair;
        private final List<Validation> validations = new ArrayList<>();
        private final List<RequiredColumn> required = new ArrayList<>();
        private Pacing pacing = Pacing.unlimited();
        private boolean shipsWithWritePath;
        private boolean startBarrier = true;
        private boolean built;

        Builder(BackfillId id, String description, TableName table, KeyType<K> key) {
            this.id = id;
            this.description = BoundedText.clean(description, 500);
            this.table = table;
            this.key = key;
        }

        /** A label for operators; at most 16, of 1 to 63 characters each, values at most 200. */
        public Builder<K> label(String name, String value) {
            open();
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(value, "value");
            if (name.isBlank() || name.length() > 63 || value.length() > 200 || labels.size() >= 16) {
                throw new InvalidDefinitionException(
                        "Backfill " + id + " may have 16 labels, names of 1 to 63 characters,"
                                + " values of at most 200; label '" + BoundedText.clean(name, 80) + "' breaks that.");
            }
            labels.put(BoundedText.clean(name, 63), BoundedText.clean(value, 200));
            return this;
        }

        /** Source keys scanned and committed together; 1 to 100 000, default 1 000. */
        public Builder<K> batchSize(int keys) {
            open();
            if (keys < 1 || keys > MAX_BATCH_SIZE) {
                throw new InvalidDefinitionException(
                        "The batch size of backfill " + id + " must be 1 to " + MAX_BATCH_SIZE + ", got " + keys
                                + ". Choose what commits well within a second; 1000 is a good start.");
            }
            this.batchSize = keys;
            return this;
        }

        /** Repairs with one UPDATE over the window. */
        public Builder<K> repair(UpdateRepair update) {
            return with(update);
        }

        /** Repairs with Java functions over locked rows. */
        public Builder<K> repair(RowRepair rows) {
            return with(rows);
        }

        /** Repairs with one statement that takes its rows from the window. */
        public Builder<K> repair(StatementRepair statement) {
            return with(statement);
        }

        /** Deletes rows of the window. */
        public Builder<K> repair(DeleteRepair delete) {
            return with(delete);
        }

        /** Repairs with own code in the batch's transaction. */
        public Builder<K> repair(Repair.Custom<K> custom) {
            return with(custom);
        }

        private Builder<K> with(Repair given) {
            open();
            if (repair != null) {
                throw new InvalidDefinitionException(
                        "Backfill " + id + " names two repairs. Give one; split the other off under an ID of its own.");
            }
            this.repair = Objects.requireNonNull(given, "repair")
                    .<Repair>match(
                            UpdateRepair::complete,
                            RowRepair::complete,
                            StatementRepair::complete,
                            DeleteRepair::complete,
                            custom -> custom);
            return this;
        }

        /** A builder makes one definition: a call after that would be lost. */
        private void open() {
            if (built) {
                throw new InvalidDefinitionException("The builder of backfill " + id
                        + " has made its definition. Begin another with Backfill.define(...).");
            }
        }

        /** A proof that must hold; may be given several times. */
        public Builder<K> validate(Validation proof) {
            open();
            validations.add(Objects.requireNonNull(proof, "proof"));
            return this;
        }

        /** A proof by own queries; may be given several times. */
        public Builder<K> validate(Validation.Custom<K> proof) {
            open();
            validations.add(Objects.requireNonNull(proof, "proof"));
            return this;
        }

        /** A column that must exist before start and claim, with any type (CF-8). The source's own are checked anyway. */
        public Builder<K> requires(String table, String column) {
            open();
            required.add(new RequiredColumn(TableName.of(table), column, null));
            return this;
        }

        /** A column that must exist before start and claim, with that type as {@code format_type} writes it (CF-8). */
        public Builder<K> requires(String table, String column, String type) {
            open();
            required.add(new RequiredColumn(TableName.of(table), column, Objects.requireNonNull(type, "type")));
            return this;
        }

        /** How hard it may press on live traffic; default unlimited. Operators can change it at run time. */
        public Builder<K> pacing(Pacing limits) {
            open();
            this.pacing = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /** Declares that the write path ships in the same release: manual-only, refused in the required set (CF-7). */
        public Builder<K> shipsWithWritePath() {
            open();
            this.shipsWithWritePath = true;
            return this;
        }

        /** Opts out of the start barrier (SR-6): only where no transaction can be open that wrote before the start. */
        public Builder<K> withoutStartBarrier() {
            open();
            this.startBarrier = false;
            return this;
        }

        /**
         * The definition.
         *
         * @throws InvalidDefinitionException if the repair or the validation is missing, a repair writes its own key, or this builder has
         *     made its definition
         */
        public BackfillDefinition<K> build() {
            open();
            if (repair == null) {
                throw new InvalidDefinitionException("Backfill " + id + " has no repair. Add .repair(...).");
            }
            if (validations.isEmpty()) {
                throw new InvalidDefinitionException(
                        "Backfill " + id + " has no validation, and only a validation completes a"
                                + " backfill (VA-3). Add .validate(Validation.noRowMatches(...)).");
            }
            for (String written : writtenColumns(repair)) {
                if (key.columns().stream().anyMatch(c -> c.name().equals(written))) {
                    throw new InvalidDefinitionException("Backfill " + id + " writes its key column '" + written
                            + "'. A key must not move while it is walked; order by another key.");
                }
            }
            built = true;
            return new BackfillDefinition<>(this, repair);
        }

        private static Set<String> writtenColumns(Repair repair) {
            return repair.match(
                    update -> update.assignments().keySet(),
                    rows -> rows.writes().keySet(),
                    statement -> Set.of(),
                    delete -> Set.of(),
                    custom -> Set.of());
        }
    }
}
