package dev.backfill.testkit.server;

import dev.backfill.testkit.server.PostgresServers.Durability;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** A server in a container of this JVM. Loaded only where Testcontainers is on the class path. */
final class ContainerServer implements PostgresServer {

    private static final Logger LOG = LoggerFactory.getLogger(ContainerServer.class);
    private static final int DEFAULT_MAJOR = 17;

    private final PostgreSQLContainer container;

    private ContainerServer(PostgreSQLContainer container) {
        this.container = container;
    }

    static @Nullable PostgresServer startIfDockerAnswers(ServerSettings settings, Durability durability) {
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            return null;
        }
        String image = "postgres:" + Objects.requireNonNullElse(settings.major(), DEFAULT_MAJOR);
        PostgreSQLContainer container = new PostgreSQLContainer(image);
        container.withCommand(
                "postgres",
                "-c",
                "fsync=" + (durability == Durability.MACHINE ? "on" : "off"),
                "-c",
                "max_connections=300");
        container.start();
        // Ryuk may be switched off; a container must not outlive an orderly end of the JVM.
        Runtime.getRuntime().addShutdownHook(new Thread(container::stop, "backfill-testkit-container-stop"));
        LOG.info("Tests run on {} in a container.", image);
        return new ContainerServer(container);
    }

    @Override
    public String urlOf(String database) {
        return "jdbc:postgresql://" + container.getHost() + ":"
                + container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT) + "/" + database + "?user="
                + container.getUsername() + "&password=" + container.getPassword();
    }

    @Override
    public String adminDatabase() {
        return container.getDatabaseName();
    }

    @Override
    public String origin() {
        return "container " + container.getDockerImageName();
    }
}
