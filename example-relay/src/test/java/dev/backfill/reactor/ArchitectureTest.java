package dev.backfill.reactor;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.NullMarked;

/** Dependencies flow one way: core from postgres, admin and testkit; the example sees all; nobody sees the example. */
@AnalyzeClasses(packages = "dev.backfill", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String[] CORE = {
        "dev.backfill", "dev.backfill.host", "dev.backfill.operate", "dev.backfill.spi", "dev.backfill.internal"
    };
    private static final String POSTGRES = "dev.backfill.postgres..";
    private static final String ADMIN = "dev.backfill.admin..";
    private static final String TESTKIT = "dev.backfill.testkit..";
    private static final String EXAMPLE = "dev.backfill.example..";
    private static final String GENERATED = "dev.backfill.postgres.internal.jooq..";

    @ArchTest
    static final ArchRule core_needs_nothing_but_the_jdk_and_two_small_apis = classes()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(CORE)
                    .or(resideInAnyPackage("java..", "org.slf4j..", "org.jspecify.annotations..")));

    @ArchTest
    static final ArchRule core_names_no_jdbc_type_but_the_connection_and_its_exception = noClasses()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .dependOnClassesThat(resideInAnyPackage("java.sql..", "javax.sql..")
                    .and(not(nameMatching("java\\.sql\\.(Connection|SQLException)"))));

    @ArchTest
    static final ArchRule postgres_sees_core_only = noClasses()
            .that()
            .resideInAPackage(POSTGRES)
            .should()
            .dependOnClassesThat(resideInAnyPackage(ADMIN, TESTKIT, EXAMPLE));

    @ArchTest
    static final ArchRule admin_sees_core_only = noClasses()
            .that()
            .resideInAPackage(ADMIN)
            .should()
            .dependOnClassesThat(resideInAnyPackage(POSTGRES, TESTKIT, EXAMPLE));

    @ArchTest
    static final ArchRule testkit_sees_core_only = noClasses()
            .that()
            .resideInAPackage(TESTKIT)
            .should()
            .dependOnClassesThat(resideInAnyPackage(POSTGRES, ADMIN, EXAMPLE));

    @ArchTest
    static final ArchRule sql_stays_home = noClasses()
            .that()
            .resideOutsideOfPackage(POSTGRES)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.jooq..", "dev.backfill.postgres.internal..");

    @ArchTest
    static final ArchRule admin_opens_no_connection = noClasses()
            .that()
            .resideInAPackage(ADMIN)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..");

    @ArchTest
    static final ArchRule packages_have_no_cycles = slices().matching("dev.backfill.(**)")
            .should()
            .beFreeOfCycles()
            .ignoreDependency(resideInAPackage(GENERATED), alwaysTrue());

    @ArchTest
    static final ArchRule definitions_of_the_example_need_the_contract_only = noClasses()
            .that()
            .resideInAPackage("dev.backfill.example.relay.backfills..")
            .should()
            .dependOnClassesThat(resideInAnyPackage(POSTGRES, ADMIN, "org.postgresql..", "dev.backfill.example.relay"));

    @ArchTest
    static final ArchRule null_has_one_spelling =
            classes().that().resideOutsideOfPackage(GENERATED).should(new BeInANullMarkedPackage());

    private static final class BeInANullMarkedPackage extends ArchCondition<JavaClass> {

        BeInANullMarkedPackage() {
            super("be in a @NullMarked package");
        }

        @Override
        public void check(JavaClass type, ConditionEvents events) {
            boolean marked =
                    type.getPackage().tryGetAnnotationOfType(NullMarked.class).isPresent();
            events.add(new SimpleConditionEvent(
                    type,
                    marked,
                    type.getName()
                            + (marked ? " is in a @NullMarked package" : " is in a package without @NullMarked")));
        }
    }
}
