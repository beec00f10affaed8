package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer that is lost during a login, and a network that is well again. */
@PostgresTest
class LostLoginIT {

    private final TestDatabase db;
    private final AtomicBoolean losing = new AtomicBoolean(true);

    LostLoginIT(TestDatabase db) {
        this.db = db;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void the_pool_of_the_guide_outlives_an_answer_that_is_lost_in_any_phase_of_a_login(int answers) // CF-2
            throws Exception {
        losing.set(true);
        URI server = URI.create(db.jdbcUrl().substring("jdbc:".length()));
        try (ServerSocket proxy = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            daemon(() -> accept(proxy, server, answers));
            String url = db.jdbcUrl()
                    .replace(server.getHost() + ":" + server.getPort(), "127.0.0.1:" + proxy.getLocalPort());
            try (HikariDataSource pool = EmbeddingIT.enginePool(url, 1)) {
                assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);
                losing.set(false);
                Eventually.until("a connection is had", () -> {
                    try (Connection connection = pool.getConnection()) {
                        return connection.isValid(5);
                    } catch (SQLException e) {
                        return false;
                    }
                });
            }
        }
    }

    private void accept(ServerSocket proxy, URI server, int answers) {
        try {
            while (!proxy.isClosed()) {
                Socket client = proxy.accept();
                Socket target = new Socket(server.getHost(), server.getPort());
                // Those that were made while answers are lost stay silent for ever.
                int passing = losing.get() ? answers : Integer.MAX_VALUE;
                daemon(() -> pump(client, target, Integer.MAX_VALUE));
                daemon(() -> pump(target, client, passing));
            }
        } catch (IOException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pump(Socket from, Socket to, int passing) {
        byte[] bytes = new byte[16_384];
        int passed = 0;
        try {
            for (int n = from.getInputStream().read(bytes);
                    n >= 0;
                    n = from.getInputStream().read(bytes)) {
                if (passed++ < passing) {
                    to.getOutputStream().write(bytes, 0, n);
                }
            }
            to.close();
        } catch (IOException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "lossy");
        thread.setDaemon(true);
        thread.start();
    }
}
