package dev.backfill.postgres.sabotage;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs one test method in a process of its own and says on one line how many of its runs passed and failed. */
final class RunTests {

    private RunTests() {}

    public static void main(String[] arguments) throws ClassNotFoundException {
        Class<?> type = Class.forName(arguments[0]);
        String method = arguments[1];
        PostDiscoveryFilter only = descriptor -> FilterResult.includedIf(descriptor
                .getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> ((MethodSource) source).getMethodName().equals(method))
                .orElse(false));
        Count count = new Count();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(type))
                                .filters(only)
                                .build(),
                        count);
        System.out.println("passed=" + count.passed + " failed=" + count.failed);
        // Threads of an engine that a failed test left behind must not keep this process.
        System.exit(0);
    }

    private static final class Count implements TestExecutionListener {

        private int passed;
        private int failed;

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                failed++;
                result.getThrowable().ifPresent(thrown -> System.out.println("because " + thrown));
            } else if (test.isTest()) {
                passed++;
            }
        }
    }
}
