package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Requests that nobody means well with, from a fixed seed: always a problem document, never a 500, nothing changed. */
class HostileRequestsTest {

    private static final int ROUNDS = 4_000;

    private static TestHost host;

    @BeforeAll
    static void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.pending("b"));
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @Test
    void thousands_of_mutilated_requests_get_a_problem_and_change_nothing() throws Exception {
        Random random = new Random(20261129);
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < ROUNDS; i++) {
            byte[] request = mutilated(random, i);
            String answer = Client.raw(host.port(), request);
            seen.add(statusOf(answer, request));
        }
        assertThat(seen).contains(400, 401, 404, 405, 413, 415, 431);
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void what_jetty_refuses_by_itself_is_a_problem_document_too() throws Exception {
        String auth = "Authorization: Bearer " + TestHost.ANA + "\r\n";
        for (String start : List.of(
                "GET /admin/backfills/%zz HTTP/1.1\r\nHost: x\r\n" + auth,
                "GET /admin/backfills/a%2fb HTTP/1.1\r\nHost: x\r\n" + auth,
                "GET /admin/backfills/%00 HTTP/1.1\r\nHost: x\r\n" + auth,
                "GET /admin/backfills//b HTTP/1.1\r\nHost: x\r\n" + auth,
                "GET /admin/backfills/b;x=1/../c HTTP/1.1\r\nHost: x\r\n" + auth,
                "GET /admin/backfills/b HTTP/1.1\r\n" + auth,
                "GET /elsewhere HTTP/1.1\r\nHost: x\r\n",
                "GET /admin/backfills/" + "a".repeat(40_000) + " HTTP/1.1\r\nHost: x\r\n",
                "GET /admin/backfills/b HTTP/1.1\r\nHost: x\r\nX: " + "y".repeat(40_000) + "\r\n",
                "POST /admin/backfills/b/start HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n" + auth,
                "POST /admin/backfills/b/start HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                        + "Content-Type: application/json\r\nIdempotency-Key: k\r\n" + auth,
                "POST /admin/backfills/b/start HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                        + "Content-Type: application/json\r\nIdempotency-Key: k\r\n" + auth + "\r\nZZ\r\n")) {
            byte[] request = (start + "Connection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8);
            statusOf(Client.raw(host.port(), request), request);
        }
        assertThat(host.operations.performed).isEmpty();
    }

    private static int statusOf(String answer, byte[] request) {
        String asked = new String(request, 0, Math.min(request.length, 300), StandardCharsets.ISO_8859_1);
        assertThat(answer).as(asked).startsWith("HTTP/1.1 ");
        int status = Integer.parseInt(answer.substring(9, 12));
        assertThat(status).as(asked).isBetween(400, 499);
        assertThat(answer)
                .as(asked)
                .contains("Content-Type: application/problem+json", "\"code\":\"", "\"status\":" + status)
                .doesNotContain("Exception", "jetty", "Jetty", "java.");
        return status;
    }

    /** A request that can't be meant: some part of a control is broken in one of many ways. */
    private static byte[] mutilated(Random random, int round) throws IOException {
        String method = "POST";
        String path = "/admin/backfills/b/start";
        String type = "application/json";
        String key = "Idempotency-Key: k" + round + "\r\n";
        String auth = "Authorization: Bearer " + TestHost.ANA + "\r\n";
        String extra = "";
        byte[] body = "{\"note\":\"x\"}".getBytes(StandardCharsets.UTF_8);
        switch (random.nextInt(9)) {
            case 0 ->
                method = List.of("PUT", "DELETE", "PATCH", "GET", "TRACE", "FOO", "post")
                        .get(random.nextInt(7));
            case 1 -> path = "/admin/backfills/b/" + junk(random, 30);
            case 2 -> path = "/admin/backfills/" + junk(random, 300) + "/start";
            case 3 ->
                type = List.of("text/plain", "application/xml", "application/json; charset=utf-16", "x")
                        .get(random.nextInt(4));
            case 4 -> key = random.nextBoolean() ? "" : key + key;
            case 5 -> auth = random.nextBoolean() ? "" : "Authorization: Bearer " + junk(random, 60) + "\r\n";
            case 6 -> extra = "X-Junk: " + "z".repeat(17_000 + random.nextInt(40_000)) + "\r\n";
            case 7 -> body = new byte[16 * 1024 + 1 + random.nextInt(1_000)];
            default -> {
                body = new byte[1 + random.nextInt(200)];
                random.nextBytes(body);
            }
        }
        String head = method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + type + "\r\n" + key + auth
                + extra + "Content-Length: " + body.length + "\r\nConnection: close\r\n\r\n";
        var out = new java.io.ByteArrayOutputStream();
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        out.write(body);
        return out.toByteArray();
    }

    private static String junk(Random random, int most) {
        String alphabet = "ABCxyz0-_.~!$&'()*+,=:@%<>\"\\^`{}|;?#\u00e4\u00ff/";
        StringBuilder out = new StringBuilder("J");
        int length = 1 + random.nextInt(most);
        for (int i = 0; i < length; i++) {
            out.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return out.toString();
    }
}
