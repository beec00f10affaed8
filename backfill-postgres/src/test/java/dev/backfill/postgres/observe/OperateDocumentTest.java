package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.Waiting;
import dev.backfill.spi.BackfillEvent;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/operate.md} speaks of what there is, all of it and nothing else. */
class OperateDocumentTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern ROW = Pattern.compile("\\| (.+?) \\| (.+?) \\|(?: (.+?) \\|)?");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern FINDING = Pattern.compile("Finding\\.Code\\.([A-Z_]+)");

    private static String text(String path) {
        try {
            return Files.readString(ROOT.resolve(path));
        } catch (IOException e) {
            throw new AssertionError(path, e);
        }
    }

    /** The lines of the first table below a heading. */
    private static List<Matcher> table(String heading) {
        String document = text("docs/operate.md");
        int at = document.indexOf("\n" + heading + "\n");
        assertThat(at).as(heading).isNotNegative();
        List<Matcher> rows = new ArrayList<>();
        boolean began = false;
        for (String line : document.substring(at).lines().toList()) {
            if (line.startsWith("|")) {
                began = true;
                Matcher row = ROW.matcher(line);
                if (row.matches() && CODE.matcher(row.group(1)).find()) {
                    rows.add(row);
                }
            } else if (began) {
                break;
            }
        }
        return rows;
    }

    /** The codes of the first column. */
    private static Set<String> codes(String heading) {
        Set<String> codes = new TreeSet<>();
        for (Matcher row : table(heading)) {
            Matcher code = CODE.matcher(row.group(1));
            while (code.find()) {
                codes.add(code.group(1));
            }
        }
        return codes;
    }

    @Test
    void the_diagnostic_codes_are_those_of_the_library_with_their_meaning_and_remedy() {
        Map<String, String> expected = new LinkedHashMap<>();
        for (DiagnosticCode code : DiagnosticCode.values()) {
            expected.put("`" + code.wireName() + "`", code.meaning() + " | " + code.remedy());
        }
        Map<String, String> found = new LinkedHashMap<>();
        table("## Diagnostic codes").forEach(row -> found.put(row.group(1), row.group(2) + " | " + row.group(3)));
        assertThat(found).containsExactlyEntriesOf(expected);
    }

    @Test
    void the_reasons_for_waiting_are_those_of_the_library() {
        assertThat(codes("## What waiting says"))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Waiting.Reason.values())
                        .map(Waiting.Reason::wireName)
                        .toList());
    }

    @Test
    void what_was_brought_about_names_a_test_for_each_code_and_reason_that_a_host_can_cause() throws IOException {
        Set<String> tests = new TreeSet<>();
        try (var files = Files.walk(ROOT.resolve("backfill-postgres/src/test/java"))) {
            for (Path file : files.filter(f -> f.toString().endsWith("IT.java")).toList()) {
                Matcher method = Pattern.compile("void ([a-z_0-9]+)\\(").matcher(Files.readString(file));
                while (method.find()) {
                    tests.add(file.getFileName().toString().replace(".java", "") + "." + method.group(1));
                }
            }
        }
        Set<String> found = new TreeSet<>();
        String document = text("docs/operate.md");
        int at = document.indexOf("\n## Brought about\n");
        Matcher row = Pattern.compile("(?m)^\\| `([a-z_-]+)` \\|.*\\| `([A-Za-z]+\\.[a-z_0-9]+)` \\|$")
                .matcher(document.substring(at, document.indexOf("\n## Findings\n")));
        while (row.find()) {
            found.add(row.group(1));
            assertThat(tests).contains(row.group(2));
        }
        Set<String> expected = new TreeSet<>();
        Arrays.stream(DiagnosticCode.values()).forEach(code -> expected.add(code.wireName()));
        Arrays.stream(Waiting.Reason.values()).forEach(reason -> expected.add(reason.wireName()));
        // Said in the document: what takes a defect or a false count, and what the findings are about.
        expected.removeAll(Set.of("window-out-of-order", "window-too-large", "changed-count-invalid", "schema"));
        assertThat(found).containsAll(expected);
    }

    @Test
    void the_findings_are_those_that_the_sources_make() throws IOException {
        Set<String> made = new TreeSet<>();
        try (var files = Files.walk(ROOT.resolve("backfill-postgres/src/main/java"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                Matcher finding = FINDING.matcher(Files.readString(file));
                while (finding.find()) {
                    made.add(finding.group(1).toLowerCase(Locale.ROOT));
                }
            }
        }
        assertThat(made).contains("table_missing", "trigger_fires");
        assertThat(codes("## Findings")).containsExactlyElementsOf(made);
        assertThat(Arrays.stream(Finding.Code.values()).map(Finding.Code::wireName))
                .containsExactlyInAnyOrderElementsOf(made);
    }

    @Test
    void the_outcomes_of_the_audit_are_those_of_the_library() {
        assertThat(codes("## The audit"))
                .containsAll(Arrays.stream(AuditRecord.Outcome.values())
                        .filter(outcome -> outcome != AuditRecord.Outcome.OTHER)
                        .map(AuditRecord.Outcome::wireName)
                        .toList());
        for (ConflictCode code : ConflictCode.values()) {
            assertThat(AuditRecord.Outcome.of(code).wireName()).isEqualTo(code.wireName());
        }
    }

    @Test
    void every_event_has_its_level_in_the_log() {
        Set<String> documented = new TreeSet<>();
        String document = text("docs/operate.md");
        int at = document.indexOf("\n## Logs\n");
        Matcher code = CODE.matcher(document.substring(at, document.indexOf("\n## Spans\n")));
        while (code.find()) {
            documented.add(code.group(1));
        }
        assertThat(documented)
                .containsAll(Arrays.stream(BackfillEvent.Kind.values())
                        .map(BackfillEvent.Kind::wireName)
                        .toList());
    }

    @Test
    void every_metric_of_the_process_is_in_the_document() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        MicrometerBackfills.in(registry);
        String metrics = text("docs/operate.md");
        assertThat(registry.getMeters().stream()
                        .map(meter -> meter.getId().getName().replace('.', '_'))
                        .distinct())
                .isNotEmpty()
                .allMatch(name -> metrics.contains("`" + name + "_") || metrics.contains("`" + name + "{"));
    }
}
