package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.Bound;
import dev.backfill.operate.BackfillSnapshot.BoundKind;
import dev.backfill.operate.BackfillSnapshot.Claim;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillSnapshot.Progress;
import dev.backfill.operate.BackfillSnapshot.Retry;
import dev.backfill.operate.BackfillSnapshot.Times;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillSnapshot.ValidationStatus;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Labels;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.Registry;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes a snapshot of a row of the read model. What can't be defended stays null (RM-2).
 *
 * @param registry this process's definitions and required set
 * @param maxAttempts its retry budget
 * @param waiting says why a row does not move
 */
public record SnapshotMapper(Registry registry, int maxAttempts, WaitingReasons waiting) {

    BackfillSnapshot map(ResultSet row) throws SQLException {
        BackfillId id = BackfillId.of(row.getString("id"));
        BackfillState state = Values.state(row);
        Diagnostic failure = diagnostic(row, "failure_code", "failure_message", "failure_sql_state", "failure_at");
        Readability judged = registry.judge(row.getString("id"), facts(row, state));
        String family = row.getString("family");
        return BackfillSnapshot.of(id, state, Objects.requireNonNull(Values.instant(row, "registered_at")))
                .described(
                        row.getString("description"),
                        Labels.fromJson(row.getString("labels")),
                        family == null ? null : BackfillId.of(family))
                .here(judged.yes(), registry.required().contains(id))
                .keys(bound(row), Values.texts(row, "checkpoint"), keyType(row.getString("key_codec")))
                .progress(progress(row, state))
                .claim(claim(row))
                .failing(
                        new Retry(
                                row.getInt("attempts"),
                                maxAttempts,
                                row.getBoolean("delayed") ? Values.instant(row, "next_attempt_at") : null,
                                failure),
                        state == BackfillState.BLOCKED || state == BackfillState.FAILED ? failure : null)
                .validation(validation(row))
                .waiting(waiting.of(row, state, judged))
                .times(times(row), row.getString("completed_lsn"))
                .build();
    }

    private static Times times(ResultSet row) throws SQLException {
        return new Times(
                Objects.requireNonNull(Values.instant(row, "registered_at")),
                Values.instant(row, "started_at"),
                Values.instant(row, "last_progress_at"),
                Values.instant(row, "validating_at"),
                Values.instant(row, "completed_at"));
    }

    private static Readability.Facts facts(ResultSet row, BackfillState state) throws SQLException {
        return new Readability.Facts(
                row.getInt("contract"),
                state != BackfillState.PENDING,
                row.getString("row_codec"),
                Values.integer(row, "range_parts"));
    }

    private static Bound bound(ResultSet row) throws SQLException {
        List<String> key = Values.texts(row, "bound");
        if (key != null) {
            return new Bound(BoundKind.AT, key, Values.texts(row, "range_low"));
        }
        return new Bound(row.getBoolean("bound_empty") ? BoundKind.EMPTY : BoundKind.NONE, null, null);
    }

    /** {@code v1:(timestamptz,uuid)} as the types of its columns. */
    private static @Nullable List<String> keyType(@Nullable String codec) {
        if (codec == null) {
            return null;
        }
        String types = codec.substring(codec.indexOf(':') + 1);
        return types.startsWith("(")
                ? Arrays.asList(types.substring(1, types.length() - 1).split(","))
                : List.of(types);
    }

    private static Progress progress(ResultSet row, BackfillState state) throws SQLException {
        long scanned = row.getLong("rows_scanned");
        Long estimate = Values.bigint(row, "rows_estimated");
        long worked = row.getLong("worked_micros");
        Double rate = scanned == 0 || worked == 0 ? null : scanned * 1e6 / worked;
        boolean exhausted = state == BackfillState.COMPLETED
                || row.getBoolean("bound_empty")
                || (row.getLong("batches") > 0
                        && Objects.equals(Values.texts(row, "bound"), Values.texts(row, "checkpoint")));
        if (exhausted) {
            // Without an estimate rows may have been passed over unread, and nobody knows how many there are.
            Long total = estimate == null ? null : scanned;
            return new Progress(scanned, row.getLong("rows_changed"), row.getLong("batches"), 1.0, total, rate, null);
        }
        boolean moving = state == BackfillState.RUNNING && row.getBoolean("unexpired");
        // An estimate that the scan has overtaken is disproved, and so is what would be derived from it.
        Double fraction = null;
        Duration eta = null;
        if (estimate != null && estimate > 0 && scanned <= estimate) {
            fraction = (double) scanned / estimate;
            eta = rate == null || !moving ? null : Duration.ofMillis((long) ((estimate - scanned) / rate * 1000));
        }
        return new Progress(scanned, row.getLong("rows_changed"), row.getLong("batches"), fraction, null, rate, eta);
    }

    private static Claim claim(ResultSet row) throws SQLException {
        ClaimStatus status = !row.getBoolean("claimed")
                ? ClaimStatus.NONE
                : row.getBoolean("unexpired") ? ClaimStatus.HELD : ClaimStatus.EXPIRED;
        boolean none = status == ClaimStatus.NONE;
        return new Claim(
                status,
                none ? null : row.getString("claim_owner"),
                row.getLong("generation"),
                none ? null : Values.instant(row, "claim_expires_at"));
    }

    private static ValidationStatus validation(ResultSet row) throws SQLException {
        if (row.getBoolean("validating_now") && row.getString("running_request_id") != null) {
            return new ValidationStatus(
                    ValidationDisposition.RUNNING,
                    Values.instant(row, "running_since"),
                    row.getString("running_request_id"),
                    null);
        }
        String disposition = row.getString("disposition");
        if (disposition == null) {
            return new ValidationStatus(ValidationDisposition.NOT_RUN, null, null, null);
        }
        return new ValidationStatus(
                disposition.equals("success") ? ValidationDisposition.SUCCESS : ValidationDisposition.FAILURE,
                Values.instant(row, "validated_at"),
                row.getString("request_id"),
                diagnostic(row, "code", "message", "sql_state", "validated_at"));
    }

    private static @Nullable Diagnostic diagnostic(
            ResultSet row, String code, String message, String sqlState, String at) throws SQLException {
        String stored = row.getString(code);
        return stored == null
                ? null
                : new Diagnostic(
                        stored,
                        Objects.requireNonNullElse(row.getString(message), ""),
                        row.getString(sqlState),
                        Values.instant(row, at));
    }
}
