package dev.backfill.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.example.relay.ConsolePictures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the documents show compiles, and what they link to exists. */
class DocumentsTest {

    private static final Pattern CHART = Pattern.compile("performance-([a-z]+)(?:-.*)?\\.svg");
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#|mailto:)([^)#\\s]+)");

    private static final Pattern ANCHOR =
            Pattern.compile("\\]\\((?!https?:|mailto:)(?<file>[^)#\\s]*)#(?<anchor>[^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*)");

    private static final Pattern PICTURE = Pattern.compile(
            "!\\[[^]]*]\\((?!https?:)(?<markdown>[^)\\s]+)\\)|(?:src|srcset)=\"(?!https?:)(?<html>[^\"]+)\"");

    static Stream<Path> documents() {
        return Repository.documents().stream();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void every_java_block_is_a_region_of_a_compiled_source(Path document) {
        for (Snippet snippet : Snippet.of(document)) {
            assertThat(snippet.source())
                    .as("%s needs <!-- snippet: path/of/File.java#region --> on the line above", snippet.where())
                    .isNotEmpty();
            assertThat(snippet.text())
                    .as("%s differs from %s", snippet.where(), snippet.source())
                    .isNotEmpty()
                    .isEqualTo(snippet.compiled());
        }
    }

    @ParameterizedTest
    @MethodSource("documents")
    void every_link_into_the_repository_leads_somewhere(Path document) {
        List<String> broken = new ArrayList<>();
        for (String line : Repository.lines(document)) {
            Matcher link = LINK.matcher(line);
            while (link.find()) {
                if (!Files.exists(document.resolveSibling(link.group(1)))) {
                    broken.add(link.group(1));
                }
            }
        }
        assertThat(broken)
                .as("links in %s", Repository.ROOT.relativize(document))
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void every_anchor_that_is_linked_is_a_heading_of_its_page(Path document) {
        List<String> orphaned = new ArrayList<>();
        for (String line : Repository.lines(document)) {
            Matcher link = ANCHOR.matcher(line);
            while (link.find()) {
                Path page = link.group("file").isEmpty()
                        ? document
                        : document.resolveSibling(link.group("file")).normalize();
                if (page.toString().endsWith(".md") && !anchors(page).contains(link.group("anchor"))) {
                    orphaned.add(link.group());
                }
            }
        }
        assertThat(orphaned)
                .as("links in %s", Repository.ROOT.relativize(document))
                .isEmpty();
    }

    private static Set<String> anchors(Path page) {
        Set<String> anchors = new TreeSet<>();
        boolean code = false;
        for (String line : Repository.lines(page)) {
            code ^= line.strip().startsWith("```");
            Matcher heading = HEADING.matcher(line);
            if (!code && heading.matches()) {
                anchors.add(heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .strip()
                        .replace(' ', '-'));
            }
        }
        return anchors;
    }

    @Test
    void every_picture_is_there_and_taken_by_the_browser_test_or_drawn_from_measured_figures() throws IOException {
        Set<String> shown = new TreeSet<>();
        String figures = Files.readString(Repository.ROOT.resolve("docs/performance.json"));
        for (Path document : Repository.documents()) {
            Matcher picture = PICTURE.matcher(String.join("\n", Repository.lines(document)));
            while (picture.find()) {
                String target = picture.group("markdown") == null ? picture.group("html") : picture.group("markdown");
                Path file = document.resolveSibling(target).normalize();
                assertThat(file).as("a picture of %s", document).isRegularFile();
                assertThat(file.getParent()).as(target).isEqualTo(Repository.ROOT.resolve("docs/images"));
                Matcher chart = CHART.matcher(file.getFileName().toString());
                if (chart.matches()) {
                    assertThat(figures).contains('"' + chart.group(1) + '"');
                } else {
                    shown.add(file.getFileName().toString());
                }
            }
        }
        assertThat(shown).containsExactlyInAnyOrderElementsOf(ConsolePictures.ALL);
    }

    @Test
    void the_readme_is_among_the_documents() {
        assertThat(Repository.documents()).contains(Repository.ROOT.resolve("README.md"));
    }

    @Test
    void a_region_is_read_without_its_indentation_and_without_inner_marks() {
        List<String> source = List.of(
                "a",
                "  // region x",
                "    b",
                "    // region y",
                "      c",
                "    // endregion",
                "",
                "  // endregion",
                "d");
        assertThat(Snippet.region(source, "x")).containsExactly("b", "  c", "");
        assertThat(Snippet.region(source, "y")).containsExactly("c");
        assertThat(Snippet.region(source, "z")).isEmpty();
    }
}
