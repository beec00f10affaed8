package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.report.Archive;
import dev.backfill.benchmarks.report.Findings;
import java.io.IOException;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/** Measures what was asked for, prints it, and writes it down. {@code mvn -q -Pbenchmark verify}; see docs/performance.md. */
public final class BenchmarkMain {

    private static final List<Section> SECTIONS = List.of(
            new Overhead(),
            new Flatness(),
            new Latency(),
            new IdleCost(),
            new Memory(),
            new NetworkDistance(),
            new Scale(),
            new LiveTraffic());

    private BenchmarkMain() {}

    /** Runs the sections. */
    public static void main(String[] arguments) throws Exception {
        Settings settings = Settings.read();
        List<String> names = SECTIONS.stream().map(Section::name).toList();
        for (String asked : settings.sections()) {
            if (!asked.equals("all") && !names.contains(asked)) {
                throw new IllegalArgumentException("There is no section '" + asked + "'; there are " + names + ".");
            }
        }
        Archive results = new Archive(settings.output().resolve("results.json"), settings.output());
        Archive published = new Archive(
                settings.documents().resolve("performance.json"),
                settings.documents().resolve("images"));
        try (Lab lab = Lab.open(settings.output())) {
            for (Section section : SECTIONS) {
                if (settings.has(section.name())) {
                    Findings found = measured(section, lab, settings);
                    found.plain().forEach(System.out::println);
                    results.put(found);
                    if (settings.publish()) {
                        published.put(found);
                        published.fill(settings.documents().resolve("performance.md"));
                    }
                }
            }
        }
    }

    private static Findings measured(Section section, Lab lab, Settings settings) throws Exception {
        System.out.println();
        System.out.println("-- " + section.name() + " …");
        long began = System.nanoTime();
        Findings found;
        try (Recording recording = settings.jfr() ? recording() : new Recording()) {
            found = section.run(lab, settings);
            if (settings.jfr()) {
                Path file = settings.output().resolve(section.name() + ".jfr");
                recording.dump(file);
                System.out.println("Profile: " + file.toAbsolutePath().normalize());
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        return found.under(String.format(
                Locale.ROOT,
                "%s; %s; %s; took %.0f s",
                LocalDate.now(ZoneOffset.UTC),
                section.size(settings),
                lab.description(),
                seconds));
    }

    private static Recording recording() throws IOException, ParseException {
        Recording recording = new Recording(Configuration.getConfiguration("profile"));
        recording.start();
        return recording;
    }
}
