package dev.backfill.example.relay.backfills;

import dev.backfill.BackfillDefinition;
import java.util.List;

/** The relay's complete set. */
public final class RelayBackfills {

    private RelayBackfills() {}

    /** Every definition, in no particular order. */
    public static List<BackfillDefinition<?>> all() {
        return List.of(
                ThreadRoots.definition(),
                MentionRows.definition(),
                SearchText.definition(),
                EventCounts.definition(),
                ChannelRetention.definition());
    }
}
