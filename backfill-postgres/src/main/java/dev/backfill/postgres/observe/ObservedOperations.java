package dev.backfill.postgres.observe;

import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.OperatorRequest;
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
        Observation observation;
        if (asked instanceof OperatorRequest request) {
            observation = action(
                            registry, request.action().wireName(), request.id().value())
                    .highCardinalityKeyValue("backfill.request_id", request.requestId());
        } else if (asked instanceof ControlRequest request) {
            observation = action(registry, method.getName(), request.id().value())
                    .highCardinalityKeyValue("backfill.request_id", request.requestId());
        } else {
            return pass(method, arguments);
        }
        observation.start();
        Observation.Scope scope = observation.openScope();
        try {
            Object outcome = pass(method, arguments);
            observation.lowCardinalityKeyValue("outcome", name(outcome));
            return outcome;
        } finally {
            scope.close();
            observation.stop();
        }
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
        if (outcome instanceof ValidationReport.Refused refused) {
            return name(refused.refusal());
        }
        if (outcome instanceof ActionOutcome.Conflict conflict) {
            return conflict.code().wireName();
        }
        return outcome == null
                ? "none"
                : outcome.getClass()
                        .getSimpleName()
                        .replaceAll("(?<=.)([A-Z])", "_$1")
                        .toLowerCase(Locale.ROOT);
    }
}
