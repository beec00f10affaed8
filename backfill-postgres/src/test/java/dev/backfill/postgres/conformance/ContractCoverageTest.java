package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every clause of the contract has tests, and docs/conformance.md names them truthfully. */
class ContractCoverageTest {

    private static final Path ROOT = Path.of("..");
    private static final Pattern CLAUSE = Pattern.compile("^- ([A-Z]{2}-\\d+)\\b", Pattern.MULTILINE);
    private static final Pattern ROW = Pattern.compile("^\\| ([A-Z]{2}-\\d+) \\| (.+) \\|$", Pattern.MULTILINE);
    private static final Pattern NAMED = Pattern.compile("`(\\w+)\\.(\\w+)`");

    private static String read(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    private static Map<String, String> rows() throws IOException {
        Map<String, String> rows = new HashMap<>();
        Matcher row = ROW.matcher(read("docs/conformance.md"));
        while (row.find()) {
            rows.put(row.group(1), row.group(2));
        }
        return rows;
    }

    /** Test sources of every module, by class name. */
    private static Map<String, String> tests() throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(Files::isDirectory).toList()) {
                for (String folder : List.of("src/test/java", "src/main/java")) {
                    collect(module.resolve(folder), sources);
                }
            }
        }
        return sources;
    }

    private static void collect(Path folder, Map<String, String> sources) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                String text = Files.readString(file);
                if (text.contains("@Test") || text.contains("@ParameterizedTest")) {
                    sources.merge(file.getFileName().toString().replace(".java", ""), text, String::concat);
                }
            }
        }
    }

    @Test
    void every_clause_of_the_contract_has_a_row_with_tests_or_a_reason() throws IOException {
        Set<String> clauses = CLAUSE.matcher(read("docs/contract.md"))
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        assertThat(clauses).hasSizeGreaterThan(60);
        Map<String, String> rows = rows();
        assertThat(rows.keySet()).containsExactlyInAnyOrderElementsOf(clauses);
        rows.forEach((clause, text) -> assertThat(NAMED.matcher(text).find() || text.startsWith("no test: "))
                .as("%s has tests or says why not", clause)
                .isTrue());
    }

    @Test
    void every_test_that_a_row_names_is_there_and_cites_the_clause() throws IOException {
        Map<String, String> tests = tests();
        rows().forEach((clause, text) -> {
            for (MatchResult named : NAMED.matcher(text).results().toList()) {
                String source = tests.get(named.group(1));
                assertThat(source).as("%s names %s", clause, named.group()).isNotNull();
                Pattern citation = Pattern.compile("void " + named.group(2) + "\\([^{]*\\{[^\\n]*\\b" + clause + "\\b");
                assertThat(citation.matcher(source).find())
                        .as("%s cites %s", named.group(), clause)
                        .isTrue();
            }
        });
    }
}
