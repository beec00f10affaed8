package dev.backfill.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

/** What was measured is what is written down. */
class ReportTest {

    @TempDir
    Path directory;

    private static Findings found(String name, double rate) {
        Findings findings = Findings.of(name).under("2 rows; a machine");
        Sheet sheet = findings.sheet("Rates", "way", "batch", "rows/s");
        sheet.add("by hand", 1_000, rate);
        sheet.add("not possible", 0, Double.NaN);
        findings.goals().add(Goal.atLeast("rate", 100, rate));
        Chart chart = Chart.of("Rates <of> \"all\" & sundry", "rows/s");
        chart.add("by hand", rate, false);
        chart.add("ours", rate / 2, true);
        return findings.with(chart);
    }

    @Test
    void a_section_survives_its_json_exactly() throws Exception {
        Archive archive = new Archive(directory.resolve("a.json"), directory);
        archive.put(found("overhead", 123.456));
        assertThat(archive.read()).containsOnlyKeys("overhead");
        assertThat(archive.read().get("overhead").markdown())
                .isEqualTo(found("overhead", 123.456).markdown());
    }

    @Test
    void a_later_measurement_takes_the_place_of_an_earlier_one_and_leaves_the_others() throws Exception {
        Archive archive = new Archive(directory.resolve("a.json"), directory);
        archive.put(found("overhead", 1));
        archive.put(found("scale", 2));
        archive.put(found("overhead", 3));
        assertThat(archive.read()).containsOnlyKeys("overhead", "scale");
        assertThat(archive.read().get("overhead").goals().get(0).measured()).isEqualTo(3);
        assertThat(archive.read().get("scale").goals().get(0).measured()).isEqualTo(2);
    }

    @Test
    void a_document_is_filled_between_its_marks_only_and_as_often_as_one_likes() throws Exception {
        Archive archive = new Archive(directory.resolve("a.json"), directory);
        archive.put(found("overhead", 123.456));
        Path document = directory.resolve("d.md");
        String given = """
                before
                <!-- figures: overhead -->
                old
                <!-- end of figures -->
                between
                <!-- figures: never -->
                kept
                <!-- end of figures -->
                after
                """;
        Files.writeString(document, given);
        archive.fill(document);
        String once = Files.readString(document);
        assertThat(once)
                .startsWith("before\n<!-- figures: overhead -->\n")
                .contains("| by hand | 1,000 | 123 |", "kept", "between", "a machine", "reached")
                .doesNotContain("old")
                .endsWith("after\n");
        archive.fill(document);
        assertThat(Files.readString(document)).isEqualTo(once);
    }

    @Test
    void a_mark_without_its_end_is_refused_before_the_rest_of_the_document_is_lost() throws Exception {
        Archive archive = new Archive(directory.resolve("a.json"), directory);
        archive.put(found("overhead", 1));
        Path document = directory.resolve("d.md");
        Files.writeString(document, "<!-- figures: overhead -->\nprecious\n");
        assertThatThrownBy(() -> archive.fill(document)).hasMessageContaining("end of figures");
        assertThat(document).content().contains("precious");
    }

    @Test
    void a_picture_is_well_formed_and_its_bars_are_as_long_as_their_values() throws Exception {
        new Archive(directory.resolve("a.json"), directory).put(found("overhead", 50));
        String svg = Files.readString(directory.resolve("performance-overhead.svg"));
        Document picture =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
        assertThat(picture.getDocumentElement().getAttribute("aria-label")).isEqualTo("Rates <of> \"all\" & sundry");
        // The first is the page.
        double whole = Double.parseDouble(picture.getElementsByTagName("rect")
                .item(1)
                .getAttributes()
                .getNamedItem("width")
                .getNodeValue());
        double half = Double.parseDouble(picture.getElementsByTagName("rect")
                .item(2)
                .getAttributes()
                .getNamedItem("width")
                .getNodeValue());
        assertThat(whole).isPositive().isEqualTo(2 * half);
    }

    @Test
    void an_unknown_figure_is_a_dash_and_reaches_no_goal() {
        assertThat(found("overhead", 1).plain()).anyMatch(line -> line.contains("not possible") && line.endsWith("–"));
        assertThat(Goal.atMost("a", 3, Double.NaN).reached()).isFalse();
        assertThat(Goal.atLeast("a", 3, Double.NaN).line()).endsWith("not measured");
    }

    @Test
    void a_missed_goal_says_so() {
        assertThat(Goal.atLeast("a", 3, 2.5).line()).contains("2.50", "at least 3", "missed");
        assertThat(Goal.atMost("a", 3, 2.5).line()).contains("at most 3", "reached");
    }

    @Test
    void figures_are_shown_with_as_many_digits_as_they_deserve() {
        assertThat(Sheet.shown(1_234_567.8)).isEqualTo("1,234,568");
        assertThat(Sheet.shown(12.345)).isEqualTo("12.3");
        assertThat(Sheet.shown(0.012345)).isEqualTo("0.0123");
        assertThat(Sheet.shown(3.0)).isEqualTo("3");
        assertThat(Sheet.shown("text")).isEqualTo("text");
    }
}
