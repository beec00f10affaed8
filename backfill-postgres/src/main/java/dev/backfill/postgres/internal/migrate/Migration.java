package dev.backfill.postgres.internal.migrate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * One step of the library's own schema, applied in one transaction. A released step is never edited (SC-1).
 *
 * @param version its number, without gaps from 1
 * @param file its file under {@code schema/migrations}
 */
public record Migration(int version, String file) {

    /** Every step, in order. A test compares it with the files. */
    public static final List<Migration> ALL = List.of(new Migration(1, "V001__tables.sql"));

    /** The schema version that a library with these steps was written for. */
    public static int current(List<Migration> steps) {
        return steps.get(steps.size() - 1).version();
    }

    /** The published text. */
    public String text() {
        String path = "/dev/backfill/postgres/schema/migrations/" + file;
        try (InputStream in = Objects.requireNonNull(Migration.class.getResourceAsStream(path), path)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
