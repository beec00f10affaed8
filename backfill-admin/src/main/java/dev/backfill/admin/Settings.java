package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.number;
import static dev.backfill.admin.WireJson.object;
import static dev.backfill.admin.WireJson.text;
import static dev.backfill.admin.WireJson.texts;
import static dev.backfill.admin.WireJson.time;
import static dev.backfill.admin.WireJson.wide;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.Pace;
import dev.backfill.operate.Rehearsal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Pace and rehearsal: what can be steered beside the lifecycle. */
final class Settings {

    private final BackfillOperations operations;

    Settings(BackfillOperations operations) {
        this.operations = operations;
    }

    ObjectNode pace(Authority authority, BackfillId id) {
        return of(operations.pace(authority, id));
    }

    ObjectNode pace(Authority authority, Route route, PaceBody asked) {
        Pace.Outcome outcome = operations.pace(asked.by(authority, route.knownId()), asked.pacing());
        return outcome.match(
                done -> {
                    ObjectNode json = object();
                    json.put("request_id", asked.requestId());
                    json.put("replayed", done.replayed());
                    json.set("pace", of(done.now()));
                    return json;
                },
                refused -> {
                    throw ControlEndpoints.conflict("pace", refused.conflict());
                });
    }

    ObjectNode rehearse(Authority authority, Route route, ControlBody asked) {
        Rehearsal.Outcome outcome = operations.rehearse(asked.by(authority, route.knownId()));
        return outcome.match(
                done -> {
                    ObjectNode json = object();
                    json.put("request_id", asked.requestId());
                    json.set("rehearsal", of(done.report()));
                    return json;
                },
                refused -> {
                    throw ControlEndpoints.conflict("rehearse", refused.conflict());
                });
    }

    private static ObjectNode of(Pace pace) {
        Pacing pacing = pace.pacing();
        ObjectNode json = object();
        json.set("pause_ratio", number(pacing.pauseRatio()));
        json.put("rows_per_second", pacing.rowsPerSecond());
        json.set("wal_bytes_per_second", wide(pacing.walBytesPerSecond()));
        json.put("target_batch_ms", millis(pacing.targetBatchTime()));
        json.put("by_operator", pace.byOperator());
        json.set("set_by", text(pace.setBy()));
        json.set("set_at", time(pace.setAt()));
        json.set("signals", array(pace.signals(), Settings::signal));
        return json;
    }

    private static ObjectNode signal(HealthSignal signal) {
        ObjectNode json = object();
        json.put("name", signal.name());
        json.put("status", signal.status().wireName());
        json.set("value", number(signal.value()));
        json.set("limit", number(signal.limit()));
        json.put("unit", signal.unit());
        json.put("source", signal.source());
        return json;
    }

    private static ObjectNode of(Rehearsal report) {
        ObjectNode json = object();
        json.put("batch_size", report.batchSize());
        json.set("samples", array(report.samples(), Settings::sample));
        json.set("plan", texts(report.plan()));
        json.set("projection", projection(report.projection()));
        return json;
    }

    private static ObjectNode sample(Rehearsal.Sample sample) {
        ObjectNode json = object();
        json.put("position", sample.position());
        json.set("scanned", wide(sample.scanned()));
        json.set("would_change", wide(sample.wouldChange()));
        json.put("took_ms", millis(sample.took()));
        json.set("wal_bytes", wide(sample.walBytes()));
        json.set("locks", texts(sample.locks()));
        json.set("failure", SnapshotJson.diagnostic(sample.failure()));
        return json;
    }

    private static JsonNode projection(Rehearsal.@Nullable Projection projection) {
        if (projection == null) {
            return text(null);
        }
        ObjectNode json = object();
        json.set("rows", wide(projection.rows()));
        json.set("changed_low", wide(projection.changedLow()));
        json.set("changed_high", wide(projection.changedHigh()));
        json.put("took_ms_low", millis(projection.tookLow()));
        json.put("took_ms_high", millis(projection.tookHigh()));
        json.set("wal_bytes_low", wide(projection.walLow()));
        json.set("wal_bytes_high", wide(projection.walHigh()));
        return json;
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }
}
