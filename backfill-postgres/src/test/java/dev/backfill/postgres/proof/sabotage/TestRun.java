package dev.backfill.postgres.proof.sabotage;

import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs one test, given as {@code Class#method}, in a process of its own. Exit code: 0 green, 1 red, 2 nothing was run. */
public final class TestRun {

    private TestRun() {}

    /** Entry point. */
    public static void main(String[] args) {
        System.exit(run(args[0].split("#", 2)));
    }

    private static int run(String[] test) {
        // By name alone, because a parameterized method would have to be asked for with its parameter types.
        PostDiscoveryFilter named = descriptor -> FilterResult.includedIf(descriptor
                .getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName().equals(test[1]))
                .orElse(true));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(test[0]))
                .filters(named)
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.getFailures().forEach(failure -> System.out.println(
                failure.getTestIdentifier().getDisplayName() + ": " + failure.getException()));
        if (summary.getTestsStartedCount() == 0 && summary.getTotalFailureCount() == 0) {
            return 2;
        }
        return summary.getTotalFailureCount() > 0 ? 1 : 0;
    }
}
