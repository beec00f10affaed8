package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.operate.BackfillState;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A request is executed whole and in time, or not at all; and a stranger keeps nobody waiting. */
class WholeRequestsTest {

    private static final String NOTE = "{\"note\":\"x\"}";
    private static final String CHUNK = "c\r\n" + NOTE + "\r\n";

    private TestHost host;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.pending("b"));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void a_request_that_was_cut_off_anywhere_is_never_executed() throws Exception {
        String whole = chunked("k") + CHUNK + "0\r\nX-Trailer: y\r\n\r\n";
        for (int length = chunked("k").length(); length < whole.length(); length++) {
            String cut = whole.substring(0, length);
            assertThat(Client.raw(host.port(), bytes(cut))).as(cut).doesNotContain("HTTP/1.1 200");
            String withLength = head("k", "Content-Length: " + NOTE.length())
                    + NOTE.substring(0, Math.min(NOTE.length() - 1, whole.length() - length));
            assertThat(Client.raw(host.port(), bytes(withLength))).doesNotContain("HTTP/1.1 200");
        }
        assertThat(host.operations.performed).isEmpty();
        assertThat(host.operations.row("b").state()).isEqualTo(BackfillState.PENDING);
    }

    @Test
    void a_chunked_request_that_arrived_whole_is_executed() throws Exception {
        assertThat(Client.raw(host.port(), bytes(chunked("k") + CHUNK + "0\r\n\r\n")))
                .startsWith("HTTP/1.1 200");
        assertThat(Client.raw(host.port(), bytes(chunked("k2") + CHUNK + "0\r\nX-Trailer: y\r\n\r\n")))
                .startsWith("HTTP/1.1 200");
        assertThat(host.operations.performed).hasSize(2);
    }

    @Test
    void where_the_host_can_not_tell_a_chunked_body_is_refused() {
        RequestBody bodies = new RequestBody(null, System::nanoTime);
        assertThatThrownBy(() -> bodies.of(request("chunked", new Dripping(1, () -> {}))))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.status()).isEqualTo(411));
    }

    @Test
    void a_body_that_drips_ends_with_its_deadline() {
        AtomicLong clock = new AtomicLong();
        RequestBody bodies = new RequestBody(request -> true, clock::get);
        Dripping body = new Dripping(10_000, () -> clock.addAndGet(1_000_000_000L));
        assertThatThrownBy(() -> bodies.of(request("chunked", body)))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.status()).isEqualTo(408));
        assertThat(body.read).isEqualTo(RequestBody.DEADLINE.toSeconds() + 1);
    }

    @Test
    void a_refused_client_that_is_still_sending_sees_why() throws Exception {
        for (String credential : List.of("", "Authorization: Bearer " + TestHost.ANA + "\r\n")) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), host.port())) {
                socket.setSoTimeout(20_000);
                socket.getOutputStream()
                        .write(bytes("DELETE /admin/backfills/b HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
                                + credential + "\r\n"));
                assertThat(firstLine(socket.getInputStream())).containsPattern("HTTP/1.1 40[15]");
                socket.getOutputStream().write(new byte[100_000]);
                String next = "GET /admin/backfills/console/icon.svg HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
                socket.getOutputStream().write(bytes(next));
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .contains("HTTP/1.1 200");
            }
        }
    }

    @Test
    void strangers_that_drip_their_bodies_are_answered_at_once_and_hold_nobody_up() throws Exception { // AU-4
        List<Socket> strangers = new ArrayList<>();
        try {
            for (String path : List.of("/b/start", "/no.such/pause", "/console/", "/b/pace", "/%zz", "")) {
                for (int i = 0; i < 40; i++) {
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), host.port());
                    socket.setSoTimeout(20_000);
                    strangers.add(socket);
                    String head =
                            "POST /admin/backfills" + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n{";
                    socket.getOutputStream().write(bytes(head));
                }
            }
            for (Socket socket : strangers) {
                assertThat(firstLine(socket.getInputStream())).containsPattern("HTTP/1.1 4\\d\\d");
            }
            assertThat(new Client(host.api(), TestHost.ANA).get("/b").status()).isEqualTo(200);
        } finally {
            for (Socket socket : strangers) {
                socket.close();
            }
        }
    }

    private static String firstLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\r'; c = in.read()) {
            line.append((char) c);
        }
        return line.toString();
    }

    private static String chunked(String key) {
        return head(key, "Transfer-Encoding: chunked");
    }

    private static String head(String key, String framing) {
        return "POST /admin/backfills/b/start HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: "
                + key + "\r\nAuthorization: Bearer " + TestHost.ANA + "\r\nConnection: close\r\n" + framing
                + "\r\n\r\n";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A request of nothing but its framing and its body. */
    private static HttpServletRequest request(String encoding, ServletInputStream body) {
        return (HttpServletRequest) Proxy.newProxyInstance(
                WholeRequestsTest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "getHeader" -> "Transfer-Encoding".equals(args[0]) ? encoding : null;
                    case "getContentType" -> "application/json";
                    case "getContentLengthLong" -> -1L;
                    case "getInputStream" -> body;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    /** A byte at a time, none of which is there before somebody waits for it. */
    private static final class Dripping extends ServletInputStream {

        private final int length;
        private final Runnable wait;
        private int read;

        Dripping(int length, Runnable wait) {
            this.length = length;
            this.wait = wait;
        }

        @Override
        public int read() {
            if (read == length) {
                return -1;
            }
            read++;
            wait.run();
            return ' ';
        }

        @Override
        public int read(byte[] into, int offset, int count) {
            int next = read();
            if (next >= 0) {
                into[offset] = (byte) next;
            }
            return next < 0 ? -1 : 1;
        }

        @Override
        public boolean isFinished() {
            return read == length;
        }

        @Override
        public boolean isReady() {
            return false;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new UnsupportedOperationException();
        }
    }
}
