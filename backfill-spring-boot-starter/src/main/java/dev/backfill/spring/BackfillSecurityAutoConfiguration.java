package dev.backfill.spring;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.admin.BearerTokens;
import dev.backfill.admin.OperatorAuthenticator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.configuration.WebSecurityCustomizer;

/**
 * Who is an operator at the API and console: bearer tokens, or the application's own login, or an {@link OperatorAuthenticator} that is a
 * bean. With tokens the API looks after itself: Spring Security would answer it with a login page and refuse its POSTs.
 *
 * @since 0.1
 */
@AutoConfiguration(after = BackfillAutoConfiguration.class)
@ConditionalOnClass(jakarta.servlet.Servlet.class)
@ConditionalOnBean(BackfillProperties.class)
@ConditionalOnProperty(prefix = "backfill.admin", name = "enabled")
public final class BackfillSecurityAutoConfiguration {

    BackfillSecurityAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    OperatorAuthenticator backfillAuthenticator(BackfillProperties properties) {
        BackfillProperties.Admin admin = properties.admin();
        if (admin.role() != null && admin.tokens().isEmpty()) {
            return new LoginAuthenticator(admin.role());
        }
        if (admin.role() != null || admin.tokens().isEmpty()) {
            throw new InvalidDefinitionException(
                    "backfill.admin.enabled needs to know who is an operator: give either backfill.admin.tokens.<name>"
                            + " (bearer tokens, 32 random bytes each) or backfill.admin.role (a role of the application's own"
                            + " login), and not both; or declare a bean of type OperatorAuthenticator.");
        }
        BearerTokens.Builder tokens = BearerTokens.builder();
        admin.tokens().forEach(tokens::operator);
        return tokens.build();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebSecurityCustomizer.class)
    static final class WithSpringSecurity {

        // Not a filter chain: that would make Boot's own, which protects the rest of the application, back off.
        @Bean
        WebSecurityCustomizer backfillTokensLookAfterThemselves(
                OperatorAuthenticator authenticator, BackfillProperties properties) {
            String path = properties.admin().path();
            return authenticator instanceof BearerTokens
                    ? web -> web.ignoring().requestMatchers(request -> isBelow(request.getRequestURI(), path))
                    : web -> {};
        }

        private static boolean isBelow(String uri, String path) {
            return uri.equals(path) || uri.startsWith(path + "/");
        }
    }
}
