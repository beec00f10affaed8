package dev.backfill.postgres.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import dev.backfill.postgres.architecture.Sources.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The figures of the engine's shape, printed and held; {@code .ci/shape} runs this class alone. A figure that is not at its goal yet is
 * a ceiling: it may fall, and the ceiling with it, and never rise.
 */
class ShapeTest {

    private static final String INTERNAL = "dev.backfill.postgres.internal.";
    private static final Pattern ROOM = Pattern.compile(Pattern.quote(INTERNAL) + "(\\w+)\\.");

    private static Sources engine;
    private static Sources core;

    @BeforeAll
    static void read() {
        engine = Sources.of("backfill-postgres");
        core = Sources.of("backfill-core");
    }

    @Test
    void no_room_is_larger_than_3_000_lines() {
        Map<String, Integer> rooms = new TreeMap<>();
        engine.files().stream()
                .filter(file -> file.packageName().startsWith(INTERNAL))
                .forEach(file -> rooms.merge(room(file), file.lines(), Integer::sum));
        say("rooms", rooms);
        assertThat(rooms.values()).as("lines of each room: %s", rooms).allMatch(lines -> lines <= 3_000);
        assertThat(rooms).hasSize(11);
    }

    @Test
    void arrows_between_rooms_make_no_cycle() {
        Map<String, Set<String>> arrows = new TreeMap<>();
        engine.files().stream()
                .filter(file -> !room(file).equals("postgres"))
                .forEach(file -> arrows.computeIfAbsent(room(file), room -> new TreeSet<>())
                        .addAll(called(file)));
        say("arrows", arrows);
        Map<String, Set<String>> left = new TreeMap<>(arrows);
        // Whatever calls nobody that is left is taken away; a cycle stays.
        boolean fewer = true;
        while (fewer) {
            fewer = left.entrySet()
                    .removeIf(room -> room.getValue().stream().noneMatch(called -> left.containsKey(called)));
        }
        say("cycles", left.size());
        assertThat(left).as("rooms in a cycle").isEmpty();
    }

    @Test
    void files_are_small() {
        List<Integer> lines = Stream.of(engine, core)
                .flatMap(module -> module.files().stream())
                .filter(file -> !file.isDescription())
                .map(Source::lines)
                .sorted()
                .toList();
        int median = lines.get(lines.size() / 2);
        int max = lines.get(lines.size() - 1);
        say("lines a file", "median " + median + ", most " + max + ", files " + lines.size());
        assertThat(median).as("median of lines a file").isLessThanOrEqualTo(100);
        assertThat(max).as("most lines a file; the goal is 320").isLessThanOrEqualTo(368);
    }

    @Test
    void no_method_is_longer_than_40_lines() {
        List<String> found = Stream.of(engine, core)
                .flatMap(module -> Shape.of(module, 40, 6).longMethods().stream())
                .toList();
        say("methods over 40 lines", found);
        assertThat(found).isEmpty();
    }

    @Test
    void no_constructor_takes_more_than_six() {
        Shape shape = Shape.of(engine, 40, 6);
        say("constructors over 6 parameters", shape.longConstructors());
        say("records over 6 components", shape.longRecords());
        assertThat(shape.longConstructors()).isEmpty();
        assertThat(shape.longRecords())
                .as("records of more than six components; those there are hold values, not collaborators")
                .hasSizeLessThanOrEqualTo(11);
    }

    @Test
    void core_shows_few_types() {
        List<String> types = core.files().stream()
                .filter(file -> !file.packageName().equals("dev.backfill.internal"))
                .flatMap(file -> file.unit().getTypeDecls().stream())
                .filter(type -> type instanceof ClassTree declared
                        && declared.getModifiers().getFlags().contains(Modifier.PUBLIC))
                .map(type -> ((ClassTree) type).getSimpleName().toString())
                .toList();
        say("public types of core", types.size());
        assertThat(types).as("public types of core").hasSizeLessThanOrEqualTo(60);
    }

    @Test
    void sealed_types_of_ours_are_matched_and_never_asked_for_their_case() {
        List<Source> files =
                Stream.concat(engine.files().stream(), core.files().stream()).toList();
        SealedTypes sealed = new SealedTypes(files);
        List<String> found =
                files.stream().flatMap(file -> sealed.askedIn(file).stream()).toList();
        say("instanceof on sealed types", found.size() + " " + found);
        assertThat(sealed.names()).contains("StepOutcome", "ActionOutcome");
        assertThat(found).as("instanceof and casts on sealed types of ours").isEmpty();
    }

    /** The walk of a batch: each type names the next one. */
    @Test
    void at_most_four_types_stand_between_the_loop_and_the_sql() {
        List<String> walk = List.of("WorkerPool", "Worker", "BatchStep", "BatchRunner", "FenceSql");
        Map<String, String> texts = engine.files().stream()
                .filter(file -> !file.isDescription())
                .collect(Collectors.toMap(Source::simpleName, Source::text));
        List<String> broken = new ArrayList<>();
        for (int i = 0; i + 1 < walk.size(); i++) {
            String next = walk.get(i + 1);
            if (!texts.getOrDefault(walk.get(i), "").contains(next)) {
                broken.add(walk.get(i) + " does not name " + next);
            }
        }
        say("from the loop to the SQL", String.join(" > ", walk));
        assertThat(broken).isEmpty();
        assertThat(walk.size() - 2).isLessThanOrEqualTo(4);
    }

    private static String room(Source file) {
        return file.packageName().startsWith(INTERNAL) ? file.packageName().substring(INTERNAL.length()) : "postgres";
    }

    private static Set<String> called(Source file) {
        return ROOM.matcher(file.text())
                .results()
                .map(found -> found.group(1))
                .filter(room -> !room.equals(room(file)) && !room.equals("jooq"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void say(String what, Object figure) {
        System.out.println("shape: " + what + ": " + figure);
    }
}
