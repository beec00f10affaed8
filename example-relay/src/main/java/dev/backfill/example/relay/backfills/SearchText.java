package dev.backfill.example.relay.backfills;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.RowRepair.Row;
import dev.backfill.Validation;
import java.text.Normalizer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A column computed by a Java function that the write path uses too, so that both always agree. Walks in the order of the
 * {@code uuid} key. The proof computes the same by other means: PostgreSQL's own {@code normalize}.
 */
public final class SearchText {

    /** The ID. */
    public static final String ID = "events.search-text.v1";

    private SearchText() {}

    // region definition
    /** Fills {@code search_text} with the unicode-normalized content. */
    public static BackfillDefinition<UUID> definition() {
        return Backfill.define(ID)
                .describedAs("Fills search_text with NFKC-normalized content")
                .over("events", Keys.uuid("uid"))
                .repair(Repair.rows()
                        .reading("content")
                        .writing("search_text", SearchText::normalized)
                        .where("content IS NOT NULL AND search_text IS NULL"))
                .validate(Validation.noRowMatches(
                        "content IS NOT NULL AND search_text IS DISTINCT FROM normalize(content, NFKC)"))
                .build();
    }
    // endregion

    private static @Nullable String normalized(Row event) {
        String content = event.text("content");
        return content == null ? null : Normalizer.normalize(content, Normalizer.Form.NFKC);
    }
}
