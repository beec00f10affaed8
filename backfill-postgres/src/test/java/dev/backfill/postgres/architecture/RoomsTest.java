package dev.backfill.postgres.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The eleven rooms of the engine, top to bottom, and what each may call: those named with it and nothing else of the engine. A new arrow
 * is a decision (docs/decisions/0014-rooms.md), and its rule here changes with it.
 */
@AnalyzeClasses(packages = "dev.backfill.postgres", importOptions = ImportOption.DoNotIncludeTests.class)
class RoomsTest {

    private static final String INTERNAL = "dev.backfill.postgres.internal.";
    private static final String GENERATED = "jooq";
    private static final List<String> ROOMS = List.of(
            "startup",
            "control",
            "work",
            "preflight",
            "validate",
            "batch",
            "supervise",
            "events",
            "row",
            "migrate",
            "jdbc",
            GENERATED);

    @ArchTest
    static final ArchRule startup_builds_the_engine_from_every_room = room(
            "startup",
            "control",
            "work",
            "preflight",
            "validate",
            "batch",
            "supervise",
            "events",
            "row",
            "migrate",
            "jdbc");

    @ArchTest
    static final ArchRule control_calls_preflight_and_below_and_never_work = room(
            "control", "preflight", "validate", "batch", "supervise", "events", "row", "migrate", "jdbc", GENERATED);

    @ArchTest
    static final ArchRule work_calls_preflight_and_below_and_never_control =
            room("work", "preflight", "validate", "batch", "supervise", "events", "row", "migrate", "jdbc");

    @ArchTest
    static final ArchRule preflight_calls_validate_and_below_and_tells_no_listener =
            room("preflight", "validate", "batch", "supervise", "row", "migrate", "jdbc");

    @ArchTest
    static final ArchRule validate_calls_batch_and_below_and_tells_no_listener =
            room("validate", "batch", "supervise", "row", "migrate", "jdbc");

    @ArchTest
    static final ArchRule batch_calls_supervise_events_and_below =
            room("batch", "supervise", "events", "row", "migrate", "jdbc");

    @ArchTest
    static final ArchRule supervise_knows_the_registry_and_no_sql = room("supervise", "row");

    @ArchTest
    static final ArchRule events_know_claims_and_run_listeners_under_supervision = room("events", "supervise", "row");

    @ArchTest
    static final ArchRule row_calls_migrate_and_jdbc = room("row", "migrate", "jdbc", GENERATED);

    @ArchTest
    static final ArchRule migrate_calls_jdbc = room("migrate", "jdbc", GENERATED);

    @ArchTest
    static final ArchRule jdbc_calls_no_room = room("jdbc");

    @ArchTest
    static final ArchRule rooms_have_no_cycles =
            slices().matching(INTERNAL + "(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule what_hosts_see_enters_by_startup = noClasses()
            .that()
            .resideInAPackage("dev.backfill.postgres")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(packages(without("startup", "row", "migrate", "jdbc")));

    private static ArchRule room(String name, String... mayCall) {
        String[] closed = packages(
                without(Stream.concat(Stream.of(name), Stream.of(mayCall)).toArray(String[]::new)));
        return noClasses()
                .that()
                .resideInAPackage(INTERNAL + name + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(closed);
    }

    private static Stream<String> without(String... open) {
        Set<String> set = Set.of(open);
        return ROOMS.stream().filter(room -> !set.contains(room));
    }

    private static String[] packages(Stream<String> rooms) {
        return rooms.map(room -> INTERNAL + room + "..").toArray(String[]::new);
    }
}
