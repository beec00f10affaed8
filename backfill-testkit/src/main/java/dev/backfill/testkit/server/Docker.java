package dev.backfill.testkit.server;

import java.nio.file.Files;
import java.nio.file.Path;

/** Whether it is worth asking for a Docker API: Testcontainers needs seconds to find out that there is none. */
final class Docker {

    private Docker() {}

    static boolean mayAnswer() {
        return System.getenv("DOCKER_HOST") != null
                || Files.exists(Path.of("/var/run/docker.sock"))
                || Files.exists(Path.of(System.getProperty("user.home"), ".docker", "run", "docker.sock"))
                || Files.exists(Path.of(System.getProperty("user.home"), ".testcontainers.properties"));
    }
}
