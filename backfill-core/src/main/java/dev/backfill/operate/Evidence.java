package dev.backfill.operate;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a backfill beside its lifecycle: how it was defined, by whom it was last registered, and what answered. Immutable;
 * what is unknown is null. Implemented by the library only.
 *
 * @since 0.1
 */
public interface Evidence {

    /** When this was read, by PostgreSQL's clock. */
    Instant asOf();

    /** The backfill as it was then. */
    BackfillSnapshot backfill();

    /** The table that it repairs, as its definition names it; null when no definition was ever registered. */
    @Nullable
    String table();

    /** The style of its repair; null when no definition was ever registered. */
    @Nullable
    String style();

    /** The most rows that one batch holds; null when no definition was ever registered. */
    @Nullable
    Integer batchSize();

    /** When a process registered its definition last, to the minute; null when none ever did. */
    @Nullable
    Instant lastRegisteredAt();

    /** The version of the library that registered it last; null when none ever did. */
    @Nullable
    String registeredByLibrary();

    /** The version of the library that answers. */
    String library();

    /** The version of the PostgreSQL server. */
    String server();
}
