package dev.backfill.postgres.internal.migrate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One step of the library's own schema. A merged step is never edited (SC-1).
 *
 * @param version its number, without gaps from 1
 * @param file its file under {@code schema/migrations}
 * @param concurrentIndex the index that it builds concurrently, outside a transaction; null for a step in one transaction
 */
public record Migration(int version, String file, @Nullable ConcurrentIndex concurrentIndex) {

    /** Every step, in order. A test compares it with the files. */
    public static final List<Migration> ALL = List.of(
            new Migration(1, "V001__tables.sql", null),
            new Migration(2, "V002__audit_by_id.sql", new ConcurrentIndex("backfill_audit_by_id", "backfill_audit")),
            new Migration(3, "V003__families.sql", null));

    /**
     * An index built beside running work.
     *
     * @param name its name
     * @param table the table it is on
     */
    public record ConcurrentIndex(String name, String table) {}

    /** The schema version that a library with these steps was written for. */
    public static int current(List<Migration> steps) {
        return steps.get(steps.size() - 1).version();
    }

    /** The statements, with names qualified; a step in one transaction is one text. */
    List<String> statements(Names names) {
        String script = names.script(text());
        return concurrentIndex == null
                ? List.of(script)
                : Arrays.stream(script.split(";\\s*\\n"))
                        .filter(s -> !s.isBlank())
                        .toList();
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
