package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.number;
import static dev.backfill.admin.WireJson.text;
import static dev.backfill.admin.WireJson.texts;
import static dev.backfill.admin.WireJson.time;
import static dev.backfill.admin.WireJson.wide;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.BoundKind;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillState;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A family as one backfill: the sum of its parts. Its {@code family} is its own ID. What only a part has, such as a checkpoint, an
 * owner or a generation, is null.
 */
final class FamilySum {

    /** The part that needs somebody most decides. */
    private static final List<BackfillState> WORST_FIRST = List.of(
            BackfillState.FAILED,
            BackfillState.BLOCKED,
            BackfillState.PAUSED,
            BackfillState.RUNNING,
            BackfillState.VALIDATING,
            BackfillState.PENDING,
            BackfillState.COMPLETED);

    private static final List<ValidationDisposition> DISPOSITIONS = List.of(
            ValidationDisposition.FAILURE,
            ValidationDisposition.RUNNING,
            ValidationDisposition.NOT_RUN,
            ValidationDisposition.SUCCESS);

    private final List<BackfillSnapshot> parts;
    private final BackfillSnapshot worst;

    private FamilySum(List<BackfillSnapshot> parts) {
        this.parts = parts;
        this.worst = worst(parts);
    }

    /** The state of a line. */
    static BackfillState state(List<BackfillSnapshot> parts) {
        return worst(parts).state();
    }

    /** The sum of at least one part. */
    static ObjectNode of(String family, List<BackfillSnapshot> parts) {
        return new FamilySum(parts).json(family);
    }

    private static BackfillSnapshot worst(List<BackfillSnapshot> parts) {
        return parts.stream()
                .min(Comparator.comparing(part -> WORST_FIRST.indexOf(part.state())))
                .orElseThrow();
    }

    private ObjectNode json(String family) {
        // The worst part first: its diagnostic, what it waits for and its descriptive texts are those of the whole.
        ObjectNode json = SnapshotJson.of(worst);
        json.put("id", family);
        json.put("family", family);
        ObjectNode labels = json.putObject("labels");
        common().forEach(labels::put);
        json.put("known_here", parts.stream().allMatch(BackfillSnapshot::knownHere));
        json.put("required", parts.stream().anyMatch(BackfillSnapshot::required));
        bound(json.putObject("bound"));
        json.set("checkpoint", text(null));
        progress(json.putObject("progress"));
        claim(json.putObject("claim"));
        ObjectNode validation = json.putObject("validation");
        validation.put("disposition", disposition().wireName());
        Stream.of("at", "request_id", "diagnostic").forEach(unknown -> validation.set(unknown, text(null)));
        json.set("actions", array(actions(), action -> text(action.wireName())));
        json.set("registered_at", time(earliest(part -> part.times().registeredAt())));
        json.set("started_at", time(earliest(part -> part.times().startedAt())));
        json.set("last_progress_at", time(latest(part -> part.times().lastProgressAt())));
        json.set("validating_at", time(whenAll(part -> part.times().validatingAt())));
        json.set("completed_at", time(whenAll(part -> part.times().completedAt())));
        json.set("completed_lsn", text(null));
        return json;
    }

    private Map<String, String> common() {
        Map<String, String> labels = new TreeMap<>(worst.labels());
        parts.forEach(part -> labels.entrySet().retainAll(part.labels().entrySet()));
        return labels;
    }

    private void bound(ObjectNode bound) {
        Set<BoundKind> kinds = EnumSet.noneOf(BoundKind.class);
        parts.forEach(part -> kinds.add(part.bound().kind()));
        bound.put("kind", (kinds.size() == 1 ? kinds.iterator().next() : BoundKind.AT).wireName());
        bound.set("key", texts(null));
        bound.set("after", texts(null));
    }

    private void progress(ObjectNode progress) {
        long scanned = sum(part -> part.progress().rowsScanned());
        boolean counted = parts.stream().allMatch(part -> part.progress().rowsTotal() != null);
        long total = sum(part -> Objects.requireNonNullElse(part.progress().rowsTotal(), 0L));
        progress.set("rows_scanned", wide(scanned));
        progress.set("rows_changed", wide(sum(part -> part.progress().rowsChanged())));
        progress.set("batches", wide(sum(part -> part.progress().batches())));
        progress.set("fraction", number(counted && total > 0 ? Math.min(1.0, (double) scanned / total) : null));
        progress.set("rows_total", wide(counted ? total : null));
        progress.set("rows_per_second", number(rate()));
        progress.set("eta", WireJson.duration(eta()));
    }

    private @Nullable Double rate() {
        List<Double> rates = parts.stream()
                .filter(part -> part.state() == BackfillState.RUNNING)
                .map(part -> part.progress().rowsPerSecond())
                .filter(Objects::nonNull)
                .toList();
        return rates.isEmpty()
                ? null
                : rates.stream().mapToDouble(Double::doubleValue).sum();
    }

    /** That of the part that takes longest; unknown as long as that of any part is. */
    private @Nullable Duration eta() {
        Duration longest = Duration.ZERO;
        for (BackfillSnapshot part : parts) {
            Duration eta = part.progress().eta();
            if (part.state() == BackfillState.COMPLETED || part.state() == BackfillState.VALIDATING) {
                continue;
            }
            if (eta == null) {
                return null;
            }
            longest = eta.compareTo(longest) > 0 ? eta : longest;
        }
        return longest.isZero() ? null : longest;
    }

    private void claim(ObjectNode claim) {
        Set<ClaimStatus> statuses = EnumSet.noneOf(ClaimStatus.class);
        parts.forEach(part -> statuses.add(part.claim().status()));
        ClaimStatus status = statuses.contains(ClaimStatus.HELD)
                ? ClaimStatus.HELD
                : statuses.contains(ClaimStatus.EXPIRED) ? ClaimStatus.EXPIRED : ClaimStatus.NONE;
        claim.put("status", status.wireName());
        Stream.of("owner", "generation", "expires_at").forEach(unknown -> claim.set(unknown, text(null)));
    }

    private ValidationDisposition disposition() {
        return parts.stream()
                .map(part -> part.validation().disposition())
                .min(Comparator.comparing(DISPOSITIONS::indexOf))
                .orElseThrow();
    }

    private Set<BackfillAction> actions() {
        Set<BackfillAction> actions = EnumSet.noneOf(BackfillAction.class);
        parts.forEach(part -> actions.addAll(part.actions()));
        return actions;
    }

    private long sum(ToLongFunction<BackfillSnapshot> count) {
        return parts.stream().mapToLong(count).sum();
    }

    private @Nullable Instant earliest(Function<BackfillSnapshot, @Nullable Instant> at) {
        return moments(at).min(Comparator.naturalOrder()).orElse(null);
    }

    private @Nullable Instant latest(Function<BackfillSnapshot, @Nullable Instant> at) {
        return moments(at).max(Comparator.naturalOrder()).orElse(null);
    }

    private @Nullable Instant whenAll(Function<BackfillSnapshot, @Nullable Instant> at) {
        return moments(at).count() == parts.size() ? latest(at) : null;
    }

    @SuppressWarnings("NullAway") // a filter takes the nulls out
    private Stream<Instant> moments(Function<BackfillSnapshot, @Nullable Instant> at) {
        return parts.stream().map(at).filter(Objects::nonNull);
    }
}
