package dev.backfill.operate;

import dev.backfill.internal.BoundedText;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * On whose word something is asked (AU-1, AU-2). Tenant roles are no authority: backfills are deployment-wide.
 *
 * @param kind what vouches for the request
 * @param name the individual, for audit; null where none is known
 * @since 0.1
 */
public record Authority(Kind kind, @Nullable String name) {

    private static final int MAX_NAME = 120;

    /** Bounds and cleans the name. */
    public Authority {
        if (name != null) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("an authority's name is not blank; use null where nobody is known");
            }
            name = BoundedText.clean(name, MAX_NAME);
        }
        if (kind == Kind.OPERATOR && name == null) {
            throw new IllegalArgumentException("an operator has a name; use protectedNetwork() where nobody is known");
        }
    }

    /** A named operator. */
    public static Authority operator(String name) {
        return new Authority(Kind.OPERATOR, name);
    }

    /** A protected network boundary that stands in for identity; names nobody (AU-2). */
    public static Authority protectedNetwork() {
        return new Authority(Kind.PROTECTED_NETWORK, null);
    }

    /** The host's own code, for instance a deployment hook. */
    public static Authority host(String name) {
        return new Authority(Kind.HOST, name);
    }

    /** The automatic mode at boot. */
    public static Authority startup() {
        return new Authority(Kind.STARTUP, "startup");
    }

    /** Nobody: no valid credential was given. */
    public static Authority anonymous() {
        return new Authority(Kind.ANONYMOUS, null);
    }

    /** What a request ID is bound to besides action and ID (IK-3). */
    public String fingerprint() {
        return name == null ? kind.wireName() : kind.wireName() + ":" + name;
    }

    /** What vouches for a request. */
    public enum Kind {
        /** A named person or machine with a credential. */
        OPERATOR,
        /** A network boundary. */
        PROTECTED_NETWORK,
        /** The host's own code. */
        HOST,
        /** The automatic mode at boot. */
        STARTUP,
        /** The engine itself, in audit records of automatic transitions. */
        ENGINE,
        /** Nobody. */
        ANONYMOUS,
        /** What a newer library wrote to the audit; nobody asks as this. */
        OTHER;

        /** The name in audit records. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The kind of that wire name; {@link #OTHER} for one that this library does not know. */
        public static Kind ofWireName(String name) {
            for (Kind kind : values()) {
                if (kind.wireName().equals(name)) {
                    return kind;
                }
            }
            return OTHER;
        }
    }

    /**
     * What an operator may be allowed; the two are granted apart (AU-1).
     */
    public enum Capability {
        /** See lists, details, audit, preflight and pace. */
        READ,
        /** Start, pause, resume, retry, validate, rehearse, pace. */
        CONTROL
    }
}
