package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A host without the optional dependencies. */
class OptionalDependenciesTest {

    private static final List<String> OPTIONAL = List.of("flyway", "liquibase", "HikariCP", "micrometer");

    @Test
    void the_core_path_loads_and_runs_without_any_optional_dependency() throws Exception {
        try (URLClassLoader bare = withoutOptionals()) {
            for (String absent : List.of(
                    "org.flywaydb.core.Flyway",
                    "liquibase.Liquibase",
                    "com.zaxxer.hikari.HikariDataSource",
                    "io.micrometer.core.instrument.MeterRegistry")) {
                assertThatThrownBy(() -> bare.loadClass(absent)).isInstanceOf(ClassNotFoundException.class);
            }
            for (String present : List.of(
                    "dev.backfill.postgres.PostgresBackfills",
                    "dev.backfill.postgres.ContractGuard",
                    "dev.backfill.postgres.ReplicaGate")) {
                // Resolves every type that a signature names, which is what fails first where a dependency is missing.
                assertThat(Class.forName(present, true, bare).getDeclaredMethods())
                        .isNotEmpty();
            }
            Object provider = bare.loadClass("dev.backfill.postgres.PostgresBackfillsProvider")
                    .getConstructor()
                    .newInstance();
            assertThat(provider.getClass().getClassLoader()).isSameAs(bare);
            startAndClose(bare, provider);
        }
    }

    /** A whole engine, threads and all, on a database that can't be reached. */
    private static void startAndClose(ClassLoader bare, Object provider) throws Exception {
        Class<?> source = bare.loadClass("dev.backfill.spi.ConnectionSource");
        Object nowhere =
                java.lang.reflect.Proxy.newProxyInstance(bare, new Class<?>[] {source}, (proxy, method, args) -> {
                    throw new java.sql.SQLException("nowhere", "08001");
                });
        Object builder = provider.getClass().getMethod("on", source).invoke(provider, nowhere);
        Object engine = bare.loadClass("dev.backfill.host.Backfills$Builder")
                .getMethod("startup")
                .invoke(builder);
        Class<?> backfills = bare.loadClass("dev.backfill.host.Backfills");
        assertThat(backfills.getMethod("readiness").invoke(engine).toString()).contains("UNKNOWN");
        backfills.getMethod("close").invoke(engine);
    }

    private static URLClassLoader withoutOptionals() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            String name = Path.of(entry).getFileName().toString();
            if (OPTIONAL.stream().noneMatch(name::startsWith)) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }
}
