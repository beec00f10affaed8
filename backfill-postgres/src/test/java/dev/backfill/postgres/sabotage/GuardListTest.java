package dev.backfill.postgres.sabotage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The list of guards keeps up with the code, in every build. */
class GuardListTest {

    static java.util.stream.Stream<Guard> guards() {
        return Guard.all().stream();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("guards")
    void a_guard_on_the_list_is_in_the_code_and_its_test_exists(Guard guard)
            throws IOException, ClassNotFoundException {
        assertThat(Files.readString(guard.source())).contains(guard.find());
        assertThat(guard.find()).isNotEqualTo(guard.replace());
        assertThat(Arrays.stream(Class.forName(guard.testClass()).getDeclaredMethods())
                        .map(Method::getName))
                .contains(guard.testMethod());
    }
}
