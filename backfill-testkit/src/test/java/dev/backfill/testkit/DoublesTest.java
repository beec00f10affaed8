package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillId;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The doubles answer what a test overrides, and name everything else. */
class DoublesTest {

    private static final BackfillId ID = BackfillId.of("events.thread-root.v1");

    @Test
    void a_double_answers_what_the_test_overrides() {
        // region double
        BackfillOperations operations = new OperationsDouble() {
            @Override
            public BackfillSnapshot show(Authority authority, BackfillId id) {
                return BackfillSnapshot.of(id, BackfillState.PAUSED, Instant.EPOCH)
                        .build();
            }
        };
        Backfills backfills = new BackfillsDouble() {
            @Override
            public BackfillOperations operations() {
                return operations;
            }

            @Override
            public Readiness readiness() {
                return new Readiness(
                        Readiness.Input.open(), Readiness.Input.open(), Readiness.Input.closed("it is paused"));
            }
        };
        // endregion
        try (backfills) {
            assertThat(backfills.operations().show(Authority.host("test"), ID).state())
                    .isEqualTo(BackfillState.PAUSED);
            assertThat(backfills.readiness().isOpen()).isFalse();
        }
    }

    @Test
    void what_is_not_overridden_names_itself() throws Exception {
        BackfillOperations operations = new OperationsDouble() {};
        for (Method method : OperationsDouble.class.getDeclaredMethods()) {
            if (BackfillOperations.class.isAssignableFrom(method.getDeclaringClass())
                    && !java.lang.reflect.Modifier.isStatic(method.getModifiers())) {
                Object[] arguments = new Object[method.getParameterCount()];
                for (int i = 0; i < arguments.length; i++) {
                    arguments[i] = method.getParameterTypes()[i] == int.class ? 1 : null;
                }
                assertThatThrownBy(() -> method.invoke(operations, arguments))
                        .isInstanceOf(InvocationTargetException.class)
                        .cause()
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("BackfillOperations." + method.getName());
            }
        }
    }
}
