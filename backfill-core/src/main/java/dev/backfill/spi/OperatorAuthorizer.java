package dev.backfill.spi;

import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;

/**
 * Decides who is a deployment operator. The host implements it; nothing is allowed unless it says so.
 *
 * <p>Called on the caller's thread, outside any transaction; must be thread-safe and quick. An exception counts as a denial.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface OperatorAuthorizer {

    /** Whether the authority holds the deployment-wide capability. */
    boolean permits(Authority authority, Capability capability);

    /** Denies everything: the default. */
    static OperatorAuthorizer denyAll() {
        return (authority, capability) -> false;
    }
}
