package dev.backfill.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/conformance.md} equal to what the tests cite, and fails when a clause of the contract is cited by none.
 * {@code -Dconformance.write=true} writes the page anew.
 */
class ConformanceMapTest {

    private static final Pattern CLAUSE =
            Pattern.compile("^- ((?:ID|LC|RB|VA|SR|BB|AT|CL|CF|RM|IK|EV|AU|OB|SC)-\\d+) (.*)");
    private static final Pattern CITED = Pattern.compile("\\b(?:ID|LC|RB|VA|SR|BB|AT|CL|CF|RM|IK|EV|AU|OB|SC)-\\d+\\b");
    private static final Pattern METHOD = Pattern.compile("\\bvoid ([a-z][a-z0-9_]+)\\(");
    private static final Path PAGE = Repository.ROOT.resolve("docs/conformance.md");

    @Test
    void every_clause_is_cited_by_a_test_and_the_page_says_by_which() throws IOException {
        Map<String, String> clauses = clauses();
        Map<String, Set<String>> tests = citations();
        assertThat(tests.keySet())
                .as("clauses that tests cite and the contract has")
                .isSubsetOf(clauses.keySet());
        assertThat(clauses.keySet()).as("clauses that no test cites").isSubsetOf(tests.keySet());
        String page = page(clauses, tests);
        if (Boolean.getBoolean("conformance.write")) {
            Files.writeString(PAGE, page);
        }
        assertThat(Files.readString(PAGE))
                .as("docs/conformance.md; write it anew with -Dconformance.write=true")
                .isEqualTo(page);
    }

    private static Map<String, String> clauses() {
        Map<String, String> clauses = new TreeMap<>(ConformanceMapTest::byLetterThenNumber);
        for (String line : Repository.lines(Repository.ROOT.resolve("docs/contract.md"))) {
            Matcher clause = CLAUSE.matcher(line);
            if (clause.matches()) {
                clauses.put(clause.group(1), clause.group(2));
            }
        }
        return clauses;
    }

    private static int byLetterThenNumber(String a, String b) {
        int letters = a.substring(0, 2).compareTo(b.substring(0, 2));
        return letters != 0 ? letters : Integer.parseInt(a.substring(3)) - Integer.parseInt(b.substring(3));
    }

    private static Map<String, Set<String>> citations() throws IOException {
        Map<String, Set<String>> tests = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Repository.ROOT)) {
            for (Path file : files.filter(ConformanceMapTest::isTest).sorted().toList()) {
                cite(file, tests);
            }
        }
        return tests;
    }

    private static boolean isTest(Path file) {
        String path = Repository.ROOT.relativize(file).toString().replace('\\', '/');
        return path.endsWith(".java")
                && !path.contains("target/")
                && (path.contains("src/test/java/") || path.contains("testkit/conformance/"))
                && !path.endsWith("ConformanceMapTest.java");
    }

    private static void cite(Path file, Map<String, Set<String>> tests) {
        String type = file.getFileName().toString().replace(".java", "");
        for (String line : Repository.lines(file)) {
            Matcher cited = CITED.matcher(line);
            Matcher method = METHOD.matcher(line);
            String test = method.find() ? type + "." + method.group(1) : type;
            while (cited.find()) {
                tests.computeIfAbsent(cited.group(), c -> new TreeSet<>()).add(test);
            }
        }
    }

    private static String page(Map<String, String> clauses, Map<String, Set<String>> tests) {
        StringBuilder page = new StringBuilder("""
                # Conformance

                Every clause of [the contract](contract.md), and the tests that cite it. A test keeps this page equal to the sources and
                fails when a clause has none; see also [the guards and their killers](sabotage.md).

                | clause | begins | tests |
                |---|---|---|
                """);
        clauses.forEach((clause, text) -> page.append("| ")
                .append(clause)
                .append(" | ")
                .append(beginning(text))
                .append(" | ")
                .append(String.join(
                        "<br>",
                        tests.getOrDefault(clause, Set.of()).stream()
                                .map(t -> "`" + t + "`")
                                .toList()))
                .append(" |\n"));
        return page.toString();
    }

    private static String beginning(String text) {
        String plain = text.replace("|", "\\|");
        return plain.length() <= 80 ? plain : plain.substring(0, plain.lastIndexOf(' ', 80)) + " …";
    }
}
