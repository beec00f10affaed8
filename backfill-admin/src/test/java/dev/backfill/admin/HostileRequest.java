package dev.backfill.admin;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** A control that would be carried out, until something of it is broken. */
final class HostileRequest {

    private static final List<String> METHODS = List.of("PUT", "DELETE", "PATCH", "GET", "TRACE", "FOO", "post");
    private static final List<String> TYPES =
            List.of("text/plain", "application/xml", "application/json; charset=utf-16", "x");
    private static final String ALPHABET = "ABCxyz0-_.~!$&'()*+,=:@%<>\"\\^`{}|;?#\u00e4\u00ff/";
    private static final int KINDS = 9;

    private String method = "POST";
    private String path = "/admin/backfills/b/start";
    private String type = "application/json";
    private String key;
    private String auth = "Authorization: Bearer " + TestHost.ANA + "\r\n";
    private String extra = "";
    private byte[] body = "{\"note\":\"x\"}".getBytes(StandardCharsets.UTF_8);

    /** One thing that is broken, and what it is called when it has to be told. */
    record Mutation(String name, Consumer<HostileRequest> applied) {
        @Override
        public String toString() {
            return name;
        }
    }

    private HostileRequest(int round) {
        key = "Idempotency-Key: k" + round + "\r\n";
    }

    static byte[] bytes(int round, List<Mutation> mutations) {
        HostileRequest request = new HostileRequest(round);
        mutations.forEach(mutation -> mutation.applied().accept(request));
        return request.bytes();
    }

    /** One to three, of which each alone must be refused. */
    static List<Mutation> mutations(Random random) {
        List<Mutation> mutations = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        while (mutations.size() < count) {
            mutations.add(mutation(random));
        }
        return mutations;
    }

    private static Mutation mutation(Random random) {
        return switch (random.nextInt(KINDS)) {
            case 0 -> {
                String method = METHODS.get(random.nextInt(METHODS.size()));
                yield new Mutation("method " + method, r -> r.method = method);
            }
            case 1 -> path("/admin/backfills/b/" + junk(random, 30));
            case 2 -> path("/admin/backfills/" + junk(random, 300) + "/start");
            case 3 -> {
                String type = TYPES.get(random.nextInt(TYPES.size()));
                yield new Mutation("type " + type, r -> r.type = type);
            }
            case 4 ->
                random.nextBoolean()
                        ? new Mutation("no key", r -> r.key = "")
                        : new Mutation("two keys", r -> r.key = "Idempotency-Key: 1\r\nIdempotency-Key: 2\r\n");
            case 5 -> {
                String auth = random.nextBoolean() ? "" : "Authorization: Bearer " + junk(random, 60) + "\r\n";
                yield new Mutation("authorization '" + auth.strip() + "'", r -> r.auth = auth);
            }
            case 6 -> {
                int length = 17_000 + random.nextInt(40_000);
                yield new Mutation("a header of " + length, r -> r.extra = "X-Junk: " + "z".repeat(length) + "\r\n");
            }
            case 7 -> body(new byte[16 * 1024 + 1 + random.nextInt(1_000)]);
            default -> {
                byte[] body = new byte[1 + random.nextInt(200)];
                random.nextBytes(body);
                yield body(body);
            }
        };
    }

    private static Mutation path(String path) {
        return new Mutation("path " + path, r -> r.path = path);
    }

    private static Mutation body(byte[] body) {
        return new Mutation("a body of " + body.length, r -> r.body = body);
    }

    private static String junk(Random random, int most) {
        StringBuilder out = new StringBuilder("J");
        int length = 1 + random.nextInt(most);
        for (int i = 0; i < length; i++) {
            out.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return out.toString();
    }

    private byte[] bytes() {
        String head = method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + type + "\r\n" + key + auth
                + extra + "Content-Length: " + body.length + "\r\nConnection: close\r\n\r\n";
        var out = new ByteArrayOutputStream();
        out.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
        out.writeBytes(body);
        return out.toByteArray();
    }
}
