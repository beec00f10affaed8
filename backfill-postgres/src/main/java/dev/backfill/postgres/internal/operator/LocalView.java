package dev.backfill.postgres.internal.operator;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.engine.Registry;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * What only this process knows, beside what the rows say.
 *
 * @param registry its definitions and required set
 * @param maxAttempts its retry budget
 * @param allBusy whether every worker of this process holds a claim
 * @param caughtIn whether a thread of this process is caught in that definition's code (BB-2)
 */
public record LocalView(Registry registry, int maxAttempts, BooleanSupplier allBusy, Predicate<BackfillId> caughtIn) {}
