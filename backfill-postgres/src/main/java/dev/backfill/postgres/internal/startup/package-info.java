/** Builds the object graph and keeps what startup promised: boot steps, readiness, close. Calls every other room; nothing calls it. */
@NullMarked
package dev.backfill.postgres.internal.startup;

import org.jspecify.annotations.NullMarked;
