package dev.backfill.admin;

import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.spi.OperatorAuthorizer;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Bearer tokens, each with the name of an operator: who somebody is and what they may do. Give the same object to the servlet and
 * to {@link dev.backfill.host.Backfills.Builder#operators}.
 *
 * <p>Only SHA-256 hashes are kept, and every entry is compared in constant time, so neither a heap dump nor a stopwatch yields a
 * token. A fast hash is right for random tokens and wrong for passwords: use 32 random bytes. Immutable and thread-safe.
 *
 * @since 0.1
 */
public final class BearerTokens implements OperatorAuthenticator, OperatorAuthorizer {

    /** The longest token, in characters. */
    public static final int MAX_TOKEN = 1_024;

    private static final String SCHEME = "bearer ";

    private final List<Entry> entries;
    private final Map<String, Boolean> controlByName;

    private BearerTokens(List<Entry> entries, Map<String, Boolean> controlByName) {
        this.entries = List.copyOf(entries);
        this.controlByName = Map.copyOf(controlByName);
    }

    /** Begins a set of tokens. */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public Optional<Authority> authenticate(HttpServletRequest request) {
        List<String> given = Collections.list(request.getHeaders("Authorization"));
        if (given.size() != 1 || !isBearer(given.get(0))) {
            return Optional.empty();
        }
        byte[] presented = hash(given.get(0).substring(SCHEME.length()).strip());
        Authority found = null;
        // No early exit: the time taken says nothing about which entry came close.
        for (Entry entry : entries) {
            if (MessageDigest.isEqual(entry.hash, presented)) {
                found = entry.authority;
            }
        }
        return Optional.ofNullable(found);
    }

    @Override
    public boolean permits(Authority authority, Capability capability) {
        String name = authority.name();
        if (authority.kind() != Authority.Kind.OPERATOR || name == null) {
            return false;
        }
        Boolean control = controlByName.get(name);
        return control != null && (capability == Capability.READ || control);
    }

    @Override
    public String toString() {
        return "BearerTokens of " + controlByName.keySet();
    }

    private static boolean isBearer(@Nullable String header) {
        return header != null
                && header.length() <= SCHEME.length() + MAX_TOKEN
                && header.toLowerCase(Locale.ROOT).startsWith(SCHEME);
    }

    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java runtime has SHA-256; this one does not.", e);
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    private record Entry(byte[] hash, Authority authority) {}

    /** Collects tokens. Confined to one thread. */
    public static final class Builder {

        private final List<Entry> entries = new ArrayList<>();
        private final Map<String, Boolean> controlByName = new HashMap<>();

        private Builder() {}

        /** A token of an operator who may see and steer. Several tokens of one name may be valid at once, for rotation. */
        public Builder operator(String name, String token) {
            return add(name, token, true);
        }

        /** A token that may only see: for dashboards, scripts and people on call elsewhere. */
        public Builder reader(String name, String token) {
            return add(name, token, false);
        }

        /** The set; without tokens nobody gets in. */
        public BearerTokens build() {
            return new BearerTokens(entries, controlByName);
        }

        private Builder add(String name, String token, boolean control) {
            Authority authority = Authority.operator(name);
            String known = String.valueOf(authority.name());
            if (token.isEmpty() || token.length() > MAX_TOKEN || !token.chars().allMatch(c -> c >= 0x21 && c <= 0x7E)) {
                throw new IllegalArgumentException(
                        "The token of '" + known + "' must be 1 to " + MAX_TOKEN + " characters of 0x21 to 0x7E, got "
                                + token.length() + " characters. Use 32 random bytes, as hex.");
            }
            byte[] hash = hash(token);
            for (Entry entry : entries) {
                if (MessageDigest.isEqual(entry.hash, hash)) {
                    throw new IllegalArgumentException("'" + entry.authority.name() + "' and '" + known
                            + "' have the same token; each operator needs one of their own.");
                }
            }
            Boolean before = controlByName.putIfAbsent(known, control);
            if (before != null && before != control) {
                throw new IllegalArgumentException(
                        "'" + known + "' is given as operator and as reader; use two names.");
            }
            entries.add(new Entry(hash, authority));
            return this;
        }
    }
}
