package dev.backfill.testkit;

import dev.backfill.testkit.server.PostgresServer;
import dev.backfill.testkit.server.PostgresServers;
import dev.backfill.testkit.server.PostgresServers.Durability;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Makes the database of {@link PostgresTest} when it is first asked for; JUnit's store closes it with the class. */
final class PostgresExtension implements ParameterResolver {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(PostgresExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestDatabase.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ExtensionContext outermost = outermostClass(context);
        return outermost
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(
                        TestDatabase.class, key -> TestDatabase.create(server(outermost)), TestDatabase.class);
    }

    private static PostgresServer server(ExtensionContext context) {
        Optional<PostgresTest> asked =
                AnnotationSupport.findAnnotation(context.getRequiredTestClass(), PostgresTest.class);
        Durability durability =
                asked.map(PostgresTest::durable).orElse(false) ? Durability.MACHINE : Durability.PROCESS;
        return asked.map(PostgresTest::direct).orElse("").isEmpty()
                ? PostgresServers.pooled(durability)
                : PostgresServers.get(durability);
    }

    private static ExtensionContext outermostClass(ExtensionContext context) {
        ExtensionContext found = context;
        for (ExtensionContext at = context; at != null; at = at.getParent().orElse(null)) {
            if (at.getTestClass().isPresent()) {
                found = at;
            }
        }
        return found;
    }
}
