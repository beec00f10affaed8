package dev.backfill.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the data source of the engine. The starter makes one from the application's own; declare one with this annotation to bring
 * another, as {@code @Bean(defaultCandidate = false)}, so that the application's own data source stays what everybody else gets. It
 * needs workers + 4 connections, in auto-commit mode.
 *
 * @since 0.1
 */
@Documented
@Qualifier
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE})
public @interface BackfillDataSource {}
