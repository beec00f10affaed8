package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.admin.HostileRequest.Mutation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Requests that nobody means well with: always a problem document, never a 500, nothing changed. {@code -Dfuzz.rounds=…} tries more,
 * {@code -Dfuzz.seed=…} others; what is answered otherwise is shrunk before it is shown.
 */
class HostileRequestsTest {

    private static final int ROUNDS = Integer.getInteger("fuzz.rounds", 4_000);
    private static final long SEED = Long.getLong("fuzz.seed", 20261129);

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
        Random random = new Random(SEED);
        Set<Integer> seen = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            int now = round;
            List<Mutation> mutations = HostileRequest.mutations(random);
            String answer = answer(now, mutations);
            assertThat(fault(answer))
                    .as(() -> "seed " + SEED + ", round " + now + ", shrunk to " + smallest(now, mutations))
                    .isNull();
            seen.add(status(answer));
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
            assertThat(fault(Client.raw(host.port(), request))).as(start).isNull();
        }
        assertThat(host.operations.performed).isEmpty();
    }

    private static String answer(int round, List<Mutation> mutations) {
        try {
            return Client.raw(host.port(), HostileRequest.bytes(round, mutations));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is wrong with an answer to a request that can't be meant; null if it is a problem document that gives nothing away. */
    private static @Nullable String fault(String answer) {
        if (!answer.startsWith("HTTP/1.1 4")) {
            return "no refusal: " + answer;
        }
        boolean problem = answer.contains("Content-Type: application/problem+json")
                && answer.contains("\"code\":\"")
                && answer.contains("\"status\":" + status(answer));
        boolean tellsWhatServes =
                Stream.of("Exception", "jetty", "Jetty", "java.").anyMatch(answer::contains);
        return problem && !tellsWhatServes ? null : answer;
    }

    private static int status(String answer) {
        return Integer.parseInt(answer.substring(9, 12));
    }

    /** Leaves out each mutation in turn that the fault does not need. */
    private static List<Mutation> smallest(int round, List<Mutation> mutations) {
        List<Mutation> small = new ArrayList<>(mutations);
        for (Mutation mutation : mutations) {
            List<Mutation> without = new ArrayList<>(small);
            without.remove(mutation);
            if (!without.isEmpty() && fault(answer(round, without)) != null) {
                small = without;
            }
        }
        return small;
    }
}
