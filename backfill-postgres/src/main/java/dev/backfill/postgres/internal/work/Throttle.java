package dev.backfill.postgres.internal.work;

import dev.backfill.Pacing;
import dev.backfill.operate.HealthSignal;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.preflight.HealthCheck;
import dev.backfill.postgres.internal.row.PaceSql;
import java.math.BigDecimal;
import java.math.MathContext;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a worker should rest before its next batch, and why: the pace first, then the health of the database. Decides nothing
 * about the row, and costs no attempt. Thread-safe.
 *
 * @param transactions short ones
 * @param health the signals
 * @param pace an operator's pacing
 */
public record Throttle(Transactions transactions, HealthCheck health, PaceSql pace) {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    // A shorter rest is over before anybody could read of it.
    private static final Duration WORTH_A_WORD = Duration.ofSeconds(1);

    /**
     * Why to rest.
     *
     * @param signal {@code pace} or the name of a health signal
     * @param detail value, limit and source, for operators
     * @param worthAWord whether the row should say so at once
     */
    record Reason(String signal, String detail, boolean worthAWord) {}

    /** Empty when the next batch may begin. */
    Optional<Reason> of(HeldClaim held, Pacer pacer) {
        if (pacer.rest() != null && pacer.mayHaveChanged()) {
            refresh(held, pacer);
        }
        Duration rest = pacer.rest();
        if (rest != null) {
            return Optional.of(new Reason(
                    "pace",
                    "pace: resting for another " + Math.max(1, rest.toSeconds()) + " s; in force is "
                            + describe(pacer.pacing()) + ".",
                    rest.compareTo(WORTH_A_WORD) > 0));
        }
        return health.strained(held.id(), held.prepared().definition().table()).map(Throttle::strained);
    }

    /** An operator who lifts a limit should not have to wait until the rest under the old one is over. */
    private void refresh(HeldClaim held, Pacer pacer) {
        try {
            Pacing now = transactions
                    .inTransaction(session -> pace.read(session, held.id()))
                    .map(PaceSql.Stored::pacing)
                    .orElse(held.prepared().definition().pacing());
            pacer.repace(now);
        } catch (SQLException e) {
            LOG.atDebug().setCause(Redaction.of(e)).log("The pace could not be read; the former one stays");
        }
    }

    private static Reason strained(HealthSignal signal) {
        return new Reason(
                signal.name(),
                signal.name() + " is " + number(signal.value()) + " " + signal.unit() + ", above its limit of "
                        + number(signal.limit()) + " (" + signal.source() + ").",
                true);
    }

    private static String number(@org.jspecify.annotations.Nullable Double value) {
        return value == null
                ? "unknown"
                : new BigDecimal(value, new MathContext(3)).stripTrailingZeros().toPlainString();
    }

    /** The limits in words. */
    static String describe(Pacing pacing) {
        StringBuilder words = new StringBuilder();
        if (pacing.pauseRatio() != null) {
            words.append(", a rest of ").append(pacing.pauseRatio()).append(" times the batch");
        }
        if (pacing.rowsPerSecond() != null) {
            words.append(", ").append(pacing.rowsPerSecond()).append(" rows per second");
        }
        if (pacing.walBytesPerSecond() != null) {
            words.append(", ").append(pacing.walBytesPerSecond()).append(" WAL bytes per second");
        }
        return words.isEmpty() ? "no limit" : words.substring(2);
    }
}
