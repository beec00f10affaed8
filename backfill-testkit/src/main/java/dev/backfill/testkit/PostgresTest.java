package dev.backfill.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test class a new, empty database of its own, injected as {@link TestDatabase} into constructors, life-cycle and test
 * methods, and dropped when the class is done. Classes may run in parallel. {@code @Nested} classes share that of the outermost one.
 *
 * <p>The server is the first that is there: the one that {@code BACKFILL_TEST_JDBC_URL} names, a container where a Docker API
 * answers, an embedded one. {@code -Dpostgres.major=14} to {@code 18} chooses the version; {@code -Dbackfill.test.pooler=pgbouncer}
 * puts a PgBouncer in transaction mode before it.
 *
 * @since 0.1
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(PostgresExtension.class)
public @interface PostgresTest {

    /**
     * Whether commits must survive the death of the machine ({@code fsync} on, a server apart). Without it they survive the death
     * of the server's processes, which is enough for tests that kill them; switch it on where figures are measured.
     */
    boolean durable() default false;

    /**
     * Why the connections of this class can't go through a pooler when the run asks for one ({@code backfill.test.pooler}): it
     * counts what travels over the wire, say, or ends sessions. Empty for classes that can, which should be most.
     */
    String direct() default "";
}
