package dev.backfill.spring;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts {@code backfills} into the readiness group and takes it out of the whole: a process that repairs is alive, and a liveness probe
 * that asks for all of health would restart it again and again. Proxies, because the types have other packages in Boot 3 and 4.
 */
final class HealthGroups {

    private static final String CONTRIBUTOR = "backfills";

    private HealthGroups() {}

    /** The same groups, with {@code backfills} where it belongs; groups that the application defines keep the members it names. */
    static <S, G> S readinessOnly(Class<S> type, Class<G> groupType, S groups) {
        Object readiness = call(groups, "get", "readiness");
        Object primary = call(groups, "getPrimary");
        return proxy(type, (self, method, arguments) -> {
            Object answer = invoke(groups, method, arguments);
            if (answer instanceof Set<?> several) {
                Set<Object> moved = new LinkedHashSet<>();
                several.forEach(one -> moved.add(member(groupType, one, readiness, primary)));
                return moved;
            }
            return member(groupType, answer, readiness, primary);
        });
    }

    private static @Nullable Object member(
            Class<?> groupType, @Nullable Object group, @Nullable Object readiness, @Nullable Object primary) {
        if (group == null || (group != readiness && group != primary)) {
            return group;
        }
        return proxy(
                groupType,
                (self, method, arguments) -> method.getName().equals("isMember") && CONTRIBUTOR.equals(arguments[0])
                        ? group == readiness
                        : invoke(group, method, arguments));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, String name, Object... arguments) {
        for (Method method : target.getClass().getMethods()) {
            if (method.getName().equals(name)
                    && method.getParameterCount() == arguments.length
                    && (arguments.length == 0 || method.getParameterTypes()[0] == String.class)) {
                try {
                    method.setAccessible(true);
                    return invoke(target, method, arguments);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException("Actuator's health groups can't be asked for " + name + ".", e);
                }
            }
        }
        throw new IllegalStateException("Actuator's health groups have no method " + name + ".");
    }

    private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments)
            throws ReflectiveOperationException {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
