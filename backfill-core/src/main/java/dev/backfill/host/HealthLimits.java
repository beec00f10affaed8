package dev.backfill.host;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.spi.HealthProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * From when on the database counts as strained, so that backfills rest. A signal without a limit is shown and throttles nothing.
 * Immutable; thread-safe if its probes are.
 *
 * @since 0.1
 */
public final class HealthLimits {

    private final Duration every;
    private final @Nullable Duration replicaLag;
    private final @Nullable Long slotRetentionBytes;
    private final @Nullable Long archiverBacklog;
    private final @Nullable Long autovacuums;
    private final @Nullable Long lockWaits;
    private final @Nullable Duration poolWait;
    private final List<HealthProbe> probes;

    private HealthLimits(Builder from) {
        this.every = from.every;
        this.replicaLag = from.replicaLag;
        this.slotRetentionBytes = from.slotRetentionBytes;
        this.archiverBacklog = from.archiverBacklog;
        this.autovacuums = from.autovacuums;
        this.lockWaits = from.lockWaits;
        this.poolWait = from.poolWait;
        this.probes = List.copyOf(from.probes);
    }

    /** The defaults. */
    public static HealthLimits defaults() {
        return builder().build();
    }

    /** No limit at all: signals are shown and throttle nothing. For tests, whose machines may be slow for reasons of their own. */
    public static HealthLimits none() {
        return builder()
                .replicaLag(null)
                .slotRetentionBytes(null)
                .archiverBacklog(null)
                .lockWaits(null)
                .poolWait(null)
                .build();
    }

    /** Collects limits, each at its default. */
    public static Builder builder() {
        return new Builder();
    }

    /** See {@link Builder#every}. */
    public Duration every() {
        return every;
    }

    /** See {@link Builder#replicaLag}. */
    public @Nullable Duration replicaLag() {
        return replicaLag;
    }

    /** See {@link Builder#slotRetentionBytes}. */
    public @Nullable Long slotRetentionBytes() {
        return slotRetentionBytes;
    }

    /** See {@link Builder#archiverBacklog}. */
    public @Nullable Long archiverBacklog() {
        return archiverBacklog;
    }

    /** See {@link Builder#autovacuums}. */
    public @Nullable Long autovacuums() {
        return autovacuums;
    }

    /** See {@link Builder#lockWaits}. */
    public @Nullable Long lockWaits() {
        return lockWaits;
    }

    /** See {@link Builder#poolWait}. */
    public @Nullable Duration poolWait() {
        return poolWait;
    }

    /** The host's own signals. */
    public List<HealthProbe> probes() {
        return probes;
    }

    /** Collects limits; null switches one off. Confined to one thread. */
    public static final class Builder {

        private Duration every = Duration.ofSeconds(2);
        private @Nullable Duration replicaLag = Duration.ofSeconds(30);
        private @Nullable Long slotRetentionBytes = 16L << 30;
        private @Nullable Long archiverBacklog = 256L;
        private @Nullable Long autovacuums;
        private @Nullable Long lockWaits = 3L;
        private @Nullable Duration poolWait = Duration.ofSeconds(2);
        private final List<HealthProbe> probes = new ArrayList<>();

        private Builder() {}

        /** How long a measurement is good for; 0 s to 1 min, default 2 s. */
        public Builder every(Duration duration) {
            Objects.requireNonNull(duration, "every");
            if (duration.isNegative() || duration.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new InvalidDefinitionException("every must be 0 s to 1 min, got " + duration + ".");
            }
            this.every = duration;
            return this;
        }

        /** How far the slowest streaming standby may be behind; default 30 s. */
        public Builder replicaLag(@Nullable Duration most) {
            this.replicaLag = most;
            return this;
        }

        /** WAL that replication slots may hold back, in bytes; default 16 GiB. */
        public Builder slotRetentionBytes(@Nullable Long most) {
            this.slotRetentionBytes = most;
            return this;
        }

        /** WAL segments that may wait to be archived; default 256. */
        public Builder archiverBacklog(@Nullable Long most) {
            this.archiverBacklog = most;
            return this;
        }

        /** Vacuums that may be running on the target table while the backfill works; default no limit, 0 to yield to each. */
        public Builder autovacuums(@Nullable Long most) {
            this.autovacuums = most;
            return this;
        }

        /** Sessions that a batch may keep waiting for its locks; default 3. */
        public Builder lockWaits(@Nullable Long most) {
            this.lockWaits = most;
            return this;
        }

        /** How long it may take to borrow a connection; default 2 s. */
        public Builder poolWait(@Nullable Duration most) {
            this.poolWait = most;
            return this;
        }

        /** One more signal, of the host's own. */
        public Builder probe(HealthProbe own) {
            probes.add(Objects.requireNonNull(own, "probe"));
            return this;
        }

        /** The limits. */
        public HealthLimits build() {
            return new HealthLimits(this);
        }
    }
}
