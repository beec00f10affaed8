/** The starter on Spring Boot 3.5; whole applications of both lines are in the examples. */
@NullMarked
package dev.backfill.spring;

import org.jspecify.annotations.NullMarked;
