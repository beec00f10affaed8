package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.EngineOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** What {@code docs/embed.md} says of the manifest is what the manifest says. */
class KubernetesManifestTest {

    private static final Map<String, Map<String, Object>> OBJECTS = new HashMap<>();

    @BeforeAll
    static void read() throws Exception {
        String text = Files.readString(Path.of("..", "docs", "kubernetes", "relay.yaml"));
        for (Object document : new Yaml().loadAll(text)) {
            Map<String, Object> object = map(document);
            OBJECTS.put(object.get("kind") + "/" + at(object, "metadata", "name"), object);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    private static Object at(Object from, Object... path) {
        Object at = from;
        for (Object step : path) {
            at = step instanceof Integer index ? ((List<?>) at).get(index) : map(at).get(step);
        }
        return at;
    }

    private static Object pod(Object... path) {
        return at(at(OBJECTS.get("Deployment/relay"), "spec", "template", "spec"), path);
    }

    @Test
    void readiness_and_liveness_ask_apart_and_no_startup_probe_waits_for_a_repair() { // CF-3
        assertThat(pod("containers", 0, "readinessProbe", "httpGet", "path")).isEqualTo("/readyz");
        assertThat(pod("containers", 0, "livenessProbe", "httpGet", "path")).isEqualTo("/healthz");
        assertThat(map(pod("containers", 0))).doesNotContainKey("startupProbe");
    }

    @Test
    void operators_reach_pods_that_are_not_ready_on_a_service_of_their_own() { // CF-3
        Map<String, Object> admin = OBJECTS.get("Service/relay-admin");
        assertThat(at(admin, "spec", "publishNotReadyAddresses")).isEqualTo(true);
        assertThat(at(admin, "spec", "selector")).isEqualTo(at(labels(), "labels"));
        assertThat(at(OBJECTS.get("Service/relay"), "spec", "ports", 0, "targetPort"))
                .isEqualTo("http");
        assertThat(map(at(OBJECTS.get("Service/relay"), "spec"))).doesNotContainKey("publishNotReadyAddresses");
        assertThat(at(admin, "spec", "ports", 0, "targetPort")).isEqualTo("admin");
    }

    private static Object labels() {
        return at(OBJECTS.get("Deployment/relay"), "spec", "template", "metadata");
    }

    @Test
    void the_grace_period_is_longer_than_an_orderly_close() { // BB-3
        assertThat((Integer) pod("terminationGracePeriodSeconds"))
                .isGreaterThan((int) EngineOptions.defaults().closeTimeout().toSeconds() + 2);
    }

    @Test
    void old_pods_serve_until_new_ones_are_ready() { // CF-7
        assertThat(at(OBJECTS.get("Deployment/relay"), "spec", "strategy", "rollingUpdate", "maxUnavailable"))
                .isEqualTo(0);
    }
}
