/**
 * Backfill at home in Spring Boot 3.5 and 4: definitions that are beans are run. Depends on the other modules, nothing on it.
 *
 * @since 0.1
 */
@NullMarked
package dev.backfill.spring;

import org.jspecify.annotations.NullMarked;
