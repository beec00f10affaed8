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
     * A merged migration is never edited: databases that have it would differ from new ones for ever. Add a line for a new file; if
     * an old line fails, take the edit back and write another migration.
     */
    private static final Map<String, String> MERGED = Map.of(
            "V001__tables.sql", "29e75e5f704cce557438a0699f576c8109296fee610e3ad4995762ec4269ded5",
            "V002__audit_by_id.sql", "237726dd8bcbc98ccfd25e1abf4203f39c94837d9faccc330d037338209b2990",
            "V003__families.sql", "b7900904951fb8fc812b2f2696ade3899bbf6274ba52e18202aeb32da28db26b");

    @Test
    void every_migration_file_is_applied_and_every_applied_one_is_a_file() throws Exception { // SC-1
        assertThat(Migration.ALL.stream().map(Migration::file)).containsExactlyElementsOf(files());
        assertThat(Migration.ALL.stream().map(Migration::version))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, Migration.ALL.size()).boxed().toList());
    }

    @Test
    void a_merged_migration_is_never_edited() throws Exception { // SC-1
        Map<String, String> found = new TreeMap<>();
        for (String file : files()) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(MIGRATIONS.resolve(file)));
            found.put(file, HexFormat.of().formatHex(digest));
        }
        assertThat(found).containsExactlyInAnyOrderEntriesOf(MERGED);
    }

    @Test
    void what_is_packaged_is_what_is_published() throws Exception { // SC-3
        for (Migration migration : Migration.ALL) {
            assertThat(migration.text())
                    .isEqualTo(Files.readString(MIGRATIONS.resolve(migration.file()), StandardCharsets.UTF_8));
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
