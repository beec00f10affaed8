package dev.backfill.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.Authority;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;

/** The application's own login as an operator's. */
class LoginAuthenticatorTest {

    private final LoginAuthenticator login = new LoginAuthenticator("OPERATOR");

    private static MockHttpServletRequest request(String method, String... roles) {
        MockHttpServletRequest request = new MockHttpServletRequest(method, "/admin/backfills/");
        request.setUserPrincipal(() -> "olga");
        for (String role : roles) {
            request.addUserRole(role);
        }
        return request;
    }

    @Test
    void who_has_the_role_is_an_operator_by_name_and_nobody_else_is() { // AU-1
        assertThat(login.authenticate(request("GET", "OPERATOR"))).contains(Authority.operator("olga"));
        assertThat(login.authenticate(request("GET", "CLERK"))).isEmpty();
        assertThat(login.authenticate(new MockHttpServletRequest("GET", "/"))).isEmpty();
    }

    @Test
    void a_control_counts_only_behind_csrf_protection() { // AU-1
        MockHttpServletRequest control = request("POST", "OPERATOR");
        assertThat(login.authenticate(control)).isEmpty();
        control.setAttribute(LoginAuthenticator.CSRF, new Object());
        assertThat(login.authenticate(control)).isPresent();
    }
}
