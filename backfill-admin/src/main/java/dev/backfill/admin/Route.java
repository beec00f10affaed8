package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillAction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a path names. Every path has a route, {@link Kind#NONE} included, so that who asks is settled before whether it exists.
 *
 * @param kind what it names
 * @param id the ID as given, which may be none; null where the path holds none
 * @param action the action of a control; null otherwise
 */
record Route(Kind kind, @Nullable String id, @Nullable BackfillAction action) {

    private static final List<String> READ = List.of("GET", "HEAD");
    private static final List<String> CONTROL = List.of("POST");
    private static final List<String> SETTING = List.of("GET", "HEAD", "PUT");

    /** The kinds of path. */
    enum Kind {
        LIST(READ),
        AUDIT_OF_ALL(READ),
        DETAIL(READ),
        AUDIT(READ),
        PREFLIGHT(READ),
        VERDICTS(READ),
        EVIDENCE(READ),
        CONTROL(Route.CONTROL),
        PACE(SETTING),
        REHEARSAL(Route.CONTROL),
        NONE(List.of());

        @SuppressWarnings("ImmutableEnumChecker") // List.of
        private final List<String> methods;

        Kind(List<String> methods) {
            this.methods = methods;
        }

        List<String> methods() {
            return methods;
        }
    }

    /** The route of a decoded path below the mount point. */
    static Route of(String path) {
        String below = path.startsWith("/") ? path.substring(1) : path;
        if (below.isEmpty()) {
            return new Route(Kind.LIST, null, null);
        }
        String[] parts = below.split("/", -1);
        if (parts.length == 1) {
            return parts[0].equals("audit")
                    ? new Route(Kind.AUDIT_OF_ALL, null, null)
                    : new Route(Kind.DETAIL, parts[0], null);
        }
        return parts.length == 2 ? ofBackfill(parts[0], parts[1]) : new Route(Kind.NONE, null, null);
    }

    private static Route ofBackfill(String id, String verb) {
        return switch (verb) {
            case "audit" -> new Route(Kind.AUDIT, id, null);
            case "preflight" -> new Route(Kind.PREFLIGHT, id, null);
            case "verdicts" -> new Route(Kind.VERDICTS, id, null);
            case "evidence" -> new Route(Kind.EVIDENCE, id, null);
            case "pace" -> new Route(Kind.PACE, id, null);
            case "rehearsal" -> new Route(Kind.REHEARSAL, id, null);
            default ->
                BackfillAction.ofWireName(verb)
                        .map(action -> new Route(Kind.CONTROL, id, action))
                        .orElseGet(() -> new Route(Kind.NONE, id, null));
        };
    }

    /** What is asked, as the audit names it. */
    String attempted(boolean read) {
        if (action != null) {
            return action.wireName();
        }
        if (read) {
            return "read";
        }
        return switch (kind) {
            case PACE -> "pace";
            case REHEARSAL -> "rehearse";
            default -> "control";
        };
    }

    /** The ID, once it may be told whether it is one. */
    BackfillId knownId() {
        if (id == null || !BackfillId.isValid(id)) {
            throw Problem.unknownId();
        }
        return BackfillId.of(id);
    }
}
