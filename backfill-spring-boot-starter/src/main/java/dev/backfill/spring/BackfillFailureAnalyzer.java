package dev.backfill.spring;

import dev.backfill.BackfillException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do where the engine keeps an application from starting, instead of a stack trace. */
final class BackfillFailureAnalyzer extends AbstractFailureAnalyzer<RuntimeException> {

    BackfillFailureAnalyzer() {}

    @Override
    protected org.springframework.boot.diagnostics.@org.jspecify.annotations.Nullable FailureAnalysis analyze(
            Throwable rootFailure, RuntimeException cause) {
        NoPoolException noPool = findCause(rootFailure, NoPoolException.class);
        if (noPool != null) {
            return new FailureAnalysis(
                    String.valueOf(noPool.getMessage()),
                    "Declare a data source for the engine alone, with workers + 4 connections in auto-commit mode:"
                            + " @Bean(defaultCandidate = false) @BackfillDataSource. Or switch the engine off with"
                            + " backfill.enabled=false.",
                    noPool);
        }
        BackfillException refused = findCause(rootFailure, BackfillException.class);
        return refused == null
                ? null
                : new FailureAnalysis(
                        String.valueOf(refused.getMessage()),
                        "Correct the definition or the backfill.* property that the message names. Durations of"
                                + " backfill.engine.* depend on each other: lock < statement <= transaction <= lease / 2.",
                        refused);
    }
}
