package dev.backfill.example.relay.http;

import jakarta.servlet.http.HttpServlet;
import java.util.Map;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Handler;

/** What the operator port serves. The servlets decide themselves who is an operator. */
public final class Administration {

    private Administration() {}

    /**
     * A handler with servlets at their paths.
     *
     * @param servlets path specification, such as {@code /admin/backfills/*}, to servlet
     */
    public static Handler handler(Map<String, HttpServlet> servlets) {
        ServletContextHandler context = new ServletContextHandler("/");
        servlets.forEach((path, servlet) -> context.addServlet(new ServletHolder(servlet), path));
        return context;
    }
}
