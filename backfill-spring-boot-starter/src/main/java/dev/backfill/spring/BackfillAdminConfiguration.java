package dev.backfill.spring;

import dev.backfill.admin.BackfillServlet;
import dev.backfill.admin.OperatorAuthenticator;
import dev.backfill.operate.BackfillOperations;
import jakarta.servlet.Servlet;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

/**
 * The operators' API and console on the management port, which answers while the application is not ready.
 *
 * @since 0.1
 */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass({Servlet.class, BackfillServlet.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(prefix = "backfill.admin", name = "enabled")
@ConditionalOnBean(BackfillOperations.class)
public final class BackfillAdminConfiguration {

    BackfillAdminConfiguration() {}

    @Bean
    ServletRegistrationBean<BackfillServlet> backfillServlet(
            BackfillOperations operations, OperatorAuthenticator authenticator, BackfillProperties properties) {
        ServletRegistrationBean<BackfillServlet> servlet = new ServletRegistrationBean<>(
                new BackfillServlet(operations, authenticator),
                properties.admin().path() + "/*");
        servlet.setName("backfills");
        return servlet;
    }
}
