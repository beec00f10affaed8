/**
 * The operator plane: controls with their ledger and audit, explicit validation, and honest reads. Uses {@code engine}, {@code
 * store}, {@code schema} and {@code jdbc}.
 */
@NullMarked
package dev.backfill.postgres.internal.operator;

import org.jspecify.annotations.NullMarked;
