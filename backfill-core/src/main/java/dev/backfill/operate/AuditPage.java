package dev.backfill.operate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of audit records, newest first.
 *
 * @param items the records
 * @param nextBefore what to ask for the next page, or null when there is none
 * @since 0.1
 */
public record AuditPage(List<AuditRecord> items, @Nullable Long nextBefore) {
    /** Copies the list. */
    public AuditPage {
        items = List.copyOf(items);
    }
}
