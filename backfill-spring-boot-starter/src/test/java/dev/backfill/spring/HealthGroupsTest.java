package dev.backfill.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Readiness;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where readiness shows, and in which words. */
class HealthGroupsTest {

    /** Like Actuator's type of that name. */
    public interface Group {
        boolean isMember(String name);
    }

    /** Like Actuator's type of that name. */
    public interface Groups {
        Group getPrimary();

        @Nullable
        Group get(String name);

        Set<Group> all();
    }

    /** Everything is in the whole, nothing in the groups; as Actuator has it. */
    public static final class Given implements Groups {

        private final Group primary = name -> true;
        private final Map<String, Group> named = Map.of("readiness", name -> false, "liveness", name -> false);

        @Override
        public Group getPrimary() {
            return primary;
        }

        @Override
        public @Nullable Group get(String name) {
            if (name.isEmpty()) {
                throw new IllegalArgumentException("empty");
            }
            return named.get(name);
        }

        @Override
        public Set<Group> all() {
            return Set.copyOf(named.values());
        }
    }

    @Test
    void backfills_are_in_the_readiness_group_and_nowhere_else() {
        Groups groups = HealthGroups.readinessOnly(Groups.class, Group.class, new Given());
        assertThat(groups.get("readiness").isMember("backfills")).isTrue();
        assertThat(groups.get("readiness").isMember("db")).isFalse();
        assertThat(groups.get("liveness").isMember("backfills")).isFalse();
        assertThat(groups.getPrimary().isMember("backfills")).isFalse();
        assertThat(groups.getPrimary().isMember("db")).isTrue();
        assertThat(groups.get("other")).isNull();
        assertThat(groups.all().stream().filter(group -> group.isMember("backfills")))
                .hasSize(1);
        assertThatThrownBy(() -> groups.get("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void closed_is_out_of_service_and_unknown_is_down() {
        Readiness.Input open = Readiness.Input.open();
        assertThat(ReadinessHealth.of(new Readiness(open, open, open)).status()).isEqualTo("UP");
        assertThat(ReadinessHealth.of(new Readiness(open, open, Readiness.Input.closed("repairing")))
                        .status())
                .isEqualTo("OUT_OF_SERVICE");
        assertThat(ReadinessHealth.of(new Readiness(Readiness.Input.unknown("silent"), open, open)))
                .satisfies(health -> assertThat(health.status()).isEqualTo("DOWN"))
                .satisfies(health -> assertThat(health.details()).containsEntry("database", "silent"));
    }
}
