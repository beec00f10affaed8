package dev.backfill.postgres.internal.control;

import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.supervise.StuckThreads;
import java.util.function.BooleanSupplier;

/**
 * What only this process knows, beside what the rows say.
 *
 * @param registry its definitions and required set
 * @param maxAttempts its retry budget
 * @param allBusy whether every worker of this process holds a claim
 * @param caught which definitions have a thread of this process caught in their code (BB-2)
 */
public record LocalView(Registry registry, int maxAttempts, BooleanSupplier allBusy, StuckThreads caught) {}
