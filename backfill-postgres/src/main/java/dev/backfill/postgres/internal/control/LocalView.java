package dev.backfill.postgres.internal.control;

import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.util.function.BooleanSupplier;

/**
 * What only this process knows, beside what the rows say.
 *
 * @param registry its definitions and required set
 * @param maxAttempts its retry budget
 * @param allBusy whether every worker of this process holds a claim
 * @param supervisor knows from whose code threads do not come back (BB-2)
 */
public record LocalView(Registry registry, int maxAttempts, BooleanSupplier allBusy, Supervisor supervisor) {}
