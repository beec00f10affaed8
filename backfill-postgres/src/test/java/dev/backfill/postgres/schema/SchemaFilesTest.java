package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.postgres.internal.migrate.Migration;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The files of the schema folder and the list that the library applies. */
class SchemaFilesTest {

    private static final Path MIGRATIONS = Path.of("..", "schema", "migrations");

    /**
     * The digest of each released migration. A released one is never edited: databases that have it would differ from new ones for
     * ever. A release adds a line for each new file; if a line fails, take the edit back and write another migration. Nothing is
     * released yet.
     */
    private static final Map<String, String> RELEASED = Map.of();

    @Test
    void every_migration_file_is_applied_and_every_applied_one_is_a_file() throws Exception { // SC-1
        assertThat(Migration.ALL.stream().map(Migration::file)).containsExactlyElementsOf(files());
        assertThat(Migration.ALL.stream().map(Migration::version))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, Migration.ALL.size()).boxed().toList());
    }

    @Test
    void a_released_migration_is_never_edited() throws Exception { // SC-1
        Map<String, String> found = new TreeMap<>();
        for (String file : files()) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(MIGRATIONS.resolve(file)));
            found.put(file, HexFormat.of().formatHex(digest));
        }
        assertThat(found).containsAllEntriesOf(RELEASED);
    }

    @Test
    void what_is_packaged_is_what_is_published() throws Exception { // SC-3
        for (Migration migration : Migration.ALL) {
            assertThat(migration.text())
                    .isEqualTo(Files.readString(MIGRATIONS.resolve(migration.file()), StandardCharsets.UTF_8));
        }
    }

    @Test
    void every_migration_can_run_in_one_transaction() { // SC-3
        for (Migration migration : Migration.ALL) {
            assertThat(migration.text()).doesNotContainIgnoringCase("concurrently");
        }
    }

    @Test
    void every_migration_records_itself_last_under_its_own_number() { // SC-5
        for (Migration migration : Migration.ALL) {
            String last = migration.text().strip();
            assertThat(last.substring(last.lastIndexOf("insert into")))
                    .contains("backfill_schema_version (version, name, safe_from, library_version)")
                    .contains("values (" + migration.version() + ", ");
        }
    }

    private static List<String> files() throws Exception {
        try (Stream<Path> files = Files.list(MIGRATIONS)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
