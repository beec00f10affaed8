package dev.backfill.admin;

import dev.backfill.operate.Authority;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;

/**
 * Says on whose word a request comes. What that authority may do is decided elsewhere, by {@link dev.backfill.spi.OperatorAuthorizer}.
 *
 * <p>Called once per request of the API, on the container's thread, before anything else of it is looked at; must be thread-safe.
 * An exception counts as no valid credential. Behind a protected network boundary that stands in for identity, return {@link
 * Authority#protectedNetwork()}: then no individual is named in the audit (AU-2).
 *
 * @since 0.1
 */
@FunctionalInterface
public interface OperatorAuthenticator {

    /** The authority behind the request, or empty when it carries no valid credential. Never logs or stores the credential. */
    Optional<Authority> authenticate(HttpServletRequest request);
}
