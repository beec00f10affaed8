package dev.backfill.example.relay;

import dev.backfill.admin.BearerTokens;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Who may operate this relay: one operator by the name of {@code demo}. */
final class OperatorTokens {

    private OperatorTokens() {}

    /** The token of the options; without one, a new one, which is printed this once. */
    static BearerTokens of(RelayOptions options) {
        String token = options.adminToken().orElseGet(OperatorTokens::generate);
        return BearerTokens.builder().operator("demo", token).build();
    }

    // To standard output and not to the log: logs are collected and kept.
    private static String generate() {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        String token = HexFormat.of().formatHex(random);
        System.out.println("Token of the operator 'demo', shown only now: " + token);
        return token;
    }
}
