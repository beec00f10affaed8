package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.InvalidDefinitionException;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The definitions of this process, fixed at startup, and which of them are required (CF-2). Immutable. */
public final class Registry {

    private final SortedMap<String, BackfillDefinition<?>> definitions;
    private final Set<BackfillId> required;

    /**
     * Checks the set as a whole.
     *
     * @throws InvalidDefinitionException for a repeated ID, an unknown required ID, a required family that lacks parts here, or a
     *     required one that ships with its write path
     */
    public Registry(Collection<BackfillDefinition<?>> given, Collection<String> requiredIds) {
        SortedMap<String, BackfillDefinition<?>> byId = new TreeMap<>();
        for (BackfillDefinition<?> definition : given) {
            if (byId.putIfAbsent(definition.id().value(), definition) != null) {
                throw new InvalidDefinitionException("Two definitions of this process have the ID " + definition.id()
                        + ". An ID names one repair: give the other one an ID of its own.");
            }
        }
        this.definitions = Collections.unmodifiableSortedMap(byId);
        refuseFamiliesWithTheIdOfABackfill();
        Set<BackfillId> ids = new LinkedHashSet<>();
        for (String id : requiredIds) {
            for (BackfillDefinition<?> definition : named(id)) {
                refuseIfItShipsWithItsWritePath(definition);
                ids.add(definition.id());
            }
        }
        this.required = Collections.unmodifiableSet(ids);
    }

    private void refuseFamiliesWithTheIdOfABackfill() {
        for (BackfillDefinition<?> definition : definitions.values()) {
            BackfillId family = definition.part().map(Family.Part::family).orElse(null);
            if (family != null && definitions.containsKey(family.value())) {
                throw new InvalidDefinitionException("A backfill and a family of this process have the ID " + family
                        + ". An ID names one repair: give the other one an ID of its own.");
            }
        }
    }

    /** The definition of an ID, or the parts of the family of that ID: all of them, or the rest would gate nobody. */
    private List<BackfillDefinition<?>> named(String id) {
        BackfillDefinition<?> definition = definitions.get(BackfillId.of(id).value());
        if (definition != null) {
            return List.of(definition);
        }
        List<BackfillDefinition<?>> parts = definitions.values().stream()
                .filter(d -> d.part().map(p -> p.family().value().equals(id)).orElse(false))
                .toList();
        if (parts.isEmpty()) {
            throw new InvalidDefinitionException(
                    "The required backfill " + id + " has no definition in this process, so it"
                            + " could never complete and readiness never open. Add its definition, or take it off the required set.");
        }
        int declared = parts.get(0).part().orElseThrow().parts();
        if (parts.size() != declared) {
            throw new InvalidDefinitionException("The required family " + id + " has " + declared
                    + " parts, of which this process defines " + parts.size()
                    + ". Give it the whole family, or require the parts by their IDs.");
        }
        return parts;
    }

    private static void refuseIfItShipsWithItsWritePath(BackfillDefinition<?> definition) {
        if (definition.shipsWithWritePath()) {
            throw new InvalidDefinitionException(
                    "The required backfill " + definition.id() + " is declared to ship with its write path."
                            + " Automatic start would run it before old writers are gone, and miss their rows for ever. Require it in"
                            + " the release after, or start it by hand (CF-7).");
        }
    }

    /** Every definition, sorted by ID. */
    public Collection<BackfillDefinition<?>> all() {
        return definitions.values();
    }

    /** The IDs, sorted. */
    public Set<String> ids() {
        return definitions.keySet();
    }

    /** The definition of an ID, if this process has it. */
    public Optional<BackfillDefinition<?>> find(String id) {
        return Optional.ofNullable(definitions.get(id));
    }

    /** Whether this process can read a row (ID-5). */
    public Readability judge(String id, Readability.Facts row) {
        return Readability.judge(row, definitions.get(id));
    }

    /** The required set. */
    public Set<BackfillId> required() {
        return required;
    }
}
