package dev.backfill.spring;

import dev.backfill.admin.OperatorAuthenticator;
import dev.backfill.operate.Authority;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.Optional;

/**
 * The application's own login: who has the operators' role is an operator by the name that they have logged in with. A browser sends the
 * session's cookie with whatever a page asks for, so a control counts only where Spring Security's CSRF protection has looked at the
 * request before.
 */
final class LoginAuthenticator implements OperatorAuthenticator {

    /** Where Spring Security's CSRF filter leaves the token; the name of its type. */
    static final String CSRF = "org.springframework.security.web.csrf.CsrfToken";

    private final String role;

    LoginAuthenticator(String role) {
        this.role = role;
    }

    @Override
    public Optional<Authority> authenticate(HttpServletRequest request) {
        Principal user = request.getUserPrincipal();
        boolean isRead =
                request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
        if (user == null || !request.isUserInRole(role) || (!isRead && request.getAttribute(CSRF) == null)) {
            return Optional.empty();
        }
        return Optional.of(Authority.operator(user.getName()));
    }
}
