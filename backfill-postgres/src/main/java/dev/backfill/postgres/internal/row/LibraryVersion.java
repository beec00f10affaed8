package dev.backfill.postgres.internal.row;

import dev.backfill.internal.BoundedText;
import java.util.Objects;

/** The version of this library, from its jar; of a host's jar where it was repackaged, so its length is anybody's guess. */
public final class LibraryVersion {

    private static final int MOST = 40;

    public static final String TEXT = BoundedText.clean(
            Objects.requireNonNullElse(LibraryVersion.class.getPackage().getImplementationVersion(), "unpackaged"),
            MOST);

    private LibraryVersion() {}
}
