package dev.backfill.postgres.internal.startup;

import java.util.Objects;

/** The version of this library, from its jar. */
final class LibraryVersion {

    static final String TEXT =
            Objects.requireNonNullElse(LibraryVersion.class.getPackage().getImplementationVersion(), "unpackaged");

    private LibraryVersion() {}
}
