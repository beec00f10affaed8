package dev.backfill.postgres.observe;

import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.ValidationReport;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The operator plane with a span for each control, that is, for each call that takes a request. Everything else passes through. Thread-safe.
 */
final class ObservedOperations implements InvocationHandler {

    private final BackfillOperations operations;
    private final ObservationRegistry registry;

    private ObservedOperations(BackfillOperations operations, ObservationRegistry registry) {
        this.operations = operations;
        this.registry = registry;
    }

    static BackfillOperations around(BackfillOperations operations, ObservationRegistry registry) {
        return (BackfillOperations) Proxy.newProxyInstance(
                BackfillOperations.class.getClassLoader(),
                new Class<?>[] {BackfillOperations.class},
                new ObservedOperations(operations, registry));
    }

    static Observation action(ObservationRegistry registry, String action, String id) {
        return Observation.createNotStarted("backfill.action", registry)
                .contextualName("backfill " + action)
                .lowCardinalityKeyValue("action", action)
                .lowCardinalityKeyValue("outcome", "unknown")
                .highCardinalityKeyValue("backfill.id", id);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        Object asked = arguments == null || arguments.length == 0 ? null : arguments[0];
        if (!(asked instanceof OperatorRequest request)) {
            return pass(method, arguments);
        }
        Observation observation = action(
                        registry, method.getName(), request.id().value())
                .highCardinalityKeyValue("backfill.request_id", request.requestId());
        observation.start();
        Observation.Scope scope = observation.openScope();
        try {
            Object outcome = pass(method, arguments);
            observation.lowCardinalityKeyValue("outcome", name(outcome));
            return outcome;
        } catch (AccessDeniedException e) {
            throw failed(observation, "denied", e);
        } catch (UnknownBackfillException e) {
            throw failed(observation, "unknown_id", e);
        } catch (BackfillUnavailableException e) {
            throw failed(observation, "unavailable", e);
        } finally {
            scope.close();
            observation.stop();
        }
    }

    private static <E extends RuntimeException> E failed(Observation observation, String outcome, E why) {
        observation.lowCardinalityKeyValue("outcome", outcome);
        return why;
    }

    private @Nullable Object pass(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(operations, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    /** The case, in the spelling of the API. */
    private static String name(@Nullable Object outcome) {
        if (outcome instanceof ActionOutcome it) {
            return it.match(
                    ObservedOperations::caseOf,
                    ObservedOperations::caseOf,
                    conflict -> conflict.code().wireName());
        }
        if (outcome instanceof ValidationReport it) {
            return it.match(
                    ObservedOperations::caseOf,
                    ObservedOperations::caseOf,
                    ObservedOperations::caseOf,
                    refused -> refused.conflict().code().wireName());
        }
        return outcome == null ? "none" : caseOf(outcome);
    }

    private static String caseOf(Object outcome) {
        return outcome.getClass()
                .getSimpleName()
                .replaceAll("(?<=.)([A-Z])", "_$1")
                .toLowerCase(Locale.ROOT);
    }
}
