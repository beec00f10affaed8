package dev.backfill.benchmarks.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Findings as files: one JSON for all sections, one SVG for each with a chart, and the document's tables, made from the JSON. */
public final class Archive {

    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL);

    private final Path json;
    private final Path pictures;

    /** Files in these places. */
    public Archive(Path json, Path pictures) {
        this.json = json;
        this.pictures = pictures;
    }

    /** Adds a section, or puts it in the place of an earlier measurement. */
    public void put(Findings findings) throws IOException {
        Map<String, Findings> all = read();
        all.put(findings.name(), findings);
        Files.createDirectories(parentOf(json));
        Files.writeString(json, JSON.writeValueAsString(all) + "\n");
        Chart chart = findings.chart();
        if (chart != null) {
            Files.createDirectories(pictures);
            Files.writeString(pictures.resolve("performance-" + findings.name() + ".svg"), chart.svg());
        }
    }

    /** Every section that was put here. */
    public Map<String, Findings> read() throws IOException {
        return Files.exists(json)
                ? JSON.readValue(Files.readString(json), new TypeReference<TreeMap<String, Findings>>() {})
                : new TreeMap<>();
    }

    /**
     * Writes each section between its marks, {@code <!-- figures: name -->} and {@code <!-- end of figures -->}. What stands
     * outside them is left alone.
     */
    public void fill(Path document) throws IOException {
        Map<String, Findings> all = read();
        List<String> filled = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(document)) {
            if (line.equals("<!-- end of figures -->")) {
                inside = false;
            }
            if (!inside) {
                filled.add(line);
            }
            Findings found = all.get(line.replaceFirst("^<!-- figures: (\\S+) -->$", "$1"));
            if (line.startsWith("<!-- figures: ") && found != null) {
                filled.addAll(found.markdown());
                inside = true;
            }
        }
        if (inside) {
            throw new IllegalStateException(
                    "In " + document.getFileName() + " a mark '<!-- figures: … -->' has no '<!-- end of figures -->'.");
        }
        Files.write(document, filled);
    }

    private static Path parentOf(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? Path.of(".") : parent;
    }
}
