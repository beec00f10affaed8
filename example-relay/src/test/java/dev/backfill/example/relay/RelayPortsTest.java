package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which port is open when. */
class RelayPortsTest {

    @Test
    void healthz_never_answers_while_the_operator_port_does_not() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, loopback)) {
            port = free.getLocalPort();
        }
        try (ServerSocket taken = new ServerSocket(0);
                Relay relay = new Relay(RelayOptions.parse(
                        List.of("--port", "" + port, "--admin-port", "" + taken.getLocalPort()), Map.of()))) {
            assertThatThrownBy(relay::start).isInstanceOf(IOException.class).hasMessageContaining("admin port");
            assertThatThrownBy(() -> new Socket(loopback, port).close()).isInstanceOf(ConnectException.class);
        }
    }
}
