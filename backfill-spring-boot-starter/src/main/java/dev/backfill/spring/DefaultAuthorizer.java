package dev.backfill.spring;

import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.spi.OperatorAuthorizer;

/**
 * Who is an operator where the application has no authorizer of its own: whom the Actuator's security, a bearer token or the operators'
 * role lets through one of the starter's doors, each of which is closed until the application opens it. The application's own code may
 * look, for metrics, and not steer.
 */
final class DefaultAuthorizer implements OperatorAuthorizer {

    @Override
    public boolean permits(Authority authority, Capability capability) {
        return switch (authority.kind()) {
            case OPERATOR, PROTECTED_NETWORK -> true;
            case HOST -> capability == Capability.READ;
            case STARTUP, ENGINE, ANONYMOUS, OTHER -> false;
        };
    }
}
