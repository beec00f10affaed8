package dev.backfill.example.relay.demo;

import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillState;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Progress for people: a table that repaints itself on a terminal, one line every now and then elsewhere. */
final class Display {

    private static final long REPAINT_NANOS = Duration.ofMillis(200).toNanos();
    private static final long PLAIN_NANOS = Duration.ofSeconds(2).toNanos();
    private static final int BAR = 20;

    private final PrintStream out;
    private final boolean terminal;
    private final long began = System.nanoTime();
    private long asked;
    private long painted;
    private int linesToRepaint;

    private Display(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
        this.asked = began;
        this.painted = began - PLAIN_NANOS;
    }

    static Display onStandardOutput() throws InterruptedException {
        return new Display(System.out, isTerminal());
    }

    // System.console() has meant different things in different versions of Java; test -t has not.
    private static boolean isTerminal() throws InterruptedException {
        try {
            return !"dumb".equals(System.getenv("TERM"))
                    && new ProcessBuilder("sh", "-c", "test -t 1")
                                    .inheritIO()
                                    .start()
                                    .waitFor()
                            == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** A sentence that stays. */
    void say(String format, Object... arguments) {
        out.printf(Locale.ROOT, "%6.1f s  %s%n", seconds(), String.format(Locale.ROOT, format, arguments));
        out.flush();
        linesToRepaint = 0;
    }

    /** A line without the clock. */
    void print(String line) {
        out.println(line);
        out.flush();
        linesToRepaint = 0;
    }

    /** Whether it is time for {@link #progress}. */
    boolean isDue() {
        return System.nanoTime() - asked >= REPAINT_NANOS;
    }

    /** Shows progress: on a terminal now, elsewhere now and then. */
    void progress(List<BackfillSnapshot> backfills, List<RelayProcess> relays) {
        asked = System.nanoTime();
        if (!terminal && System.nanoTime() - painted < PLAIN_NANOS) {
            return;
        }
        painted = System.nanoTime();
        if (terminal) {
            repaint(backfills, relays);
        } else {
            say("%s", backfills.stream().map(Display::brief).collect(Collectors.joining(" | ")));
        }
    }

    private void repaint(List<BackfillSnapshot> backfills, List<RelayProcess> relays) {
        StringBuilder picture = new StringBuilder();
        if (linesToRepaint > 0) {
            picture.append("\u001b[").append(linesToRepaint).append('A');
        }
        for (BackfillSnapshot backfill : backfills) {
            picture.append("\u001b[2K").append(row(backfill, relays)).append('\n');
        }
        out.print(picture);
        out.flush();
        linesToRepaint = backfills.size();
    }

    // What is unknown is shown as such, never as zero.
    private static String row(BackfillSnapshot backfill, List<RelayProcess> relays) {
        BackfillSnapshot.Progress progress = backfill.progress();
        String rate = progress.rowsPerSecond() == null
                ? ""
                : String.format(Locale.ROOT, "%,.0f rows/s", progress.rowsPerSecond());
        String eta = progress.eta() == null ? "" : "eta " + duration(progress.eta());
        return String.format(
                Locale.ROOT,
                "  %-26s %-10s %s %4s %,11d rows %15s %10s  %s",
                backfill.id(),
                backfill.state().wireName(),
                bar(progress.fraction()),
                percent(progress.fraction()),
                progress.rowsScanned(),
                rate,
                eta,
                owner(backfill, relays));
    }

    private static String owner(BackfillSnapshot backfill, List<RelayProcess> relays) {
        String owner = backfill.claim().owner();
        if (owner == null || backfill.claim().status() == ClaimStatus.NONE) {
            return "";
        }
        Optional<String> relay = relays.stream()
                .filter(candidate -> candidate.isOwner(owner))
                .map(RelayProcess::name)
                .findFirst();
        return relay.orElse(owner) + (backfill.claim().status() == ClaimStatus.EXPIRED ? " (lapsed)" : "");
    }

    private static String bar(@Nullable Double fraction) {
        int filled = fraction == null ? 0 : (int) Math.floor(Math.min(1, fraction) * BAR);
        return (fraction == null ? "?" : "█").repeat(filled) + "·".repeat(BAR - filled);
    }

    private static String percent(@Nullable Double fraction) {
        return fraction == null ? "?" : String.format(Locale.ROOT, "%.0f%%", Math.floor(fraction * 100));
    }

    private static String brief(BackfillSnapshot backfill) {
        String id = backfill.id().toString();
        String name = id.substring(id.indexOf('.') + 1, id.lastIndexOf('.'));
        if (backfill.state() != BackfillState.RUNNING) {
            return name + " " + backfill.state().wireName();
        }
        BackfillSnapshot.Progress progress = backfill.progress();
        String rate = progress.rowsPerSecond() == null
                ? ""
                : String.format(Locale.ROOT, " %,.0f/s", progress.rowsPerSecond());
        String eta = progress.eta() == null ? "" : " eta " + duration(progress.eta());
        return name + " " + percent(progress.fraction()) + rate + eta;
    }

    private static String duration(Duration time) {
        return String.format(Locale.ROOT, "%d:%02d", time.toMinutes(), time.toSecondsPart());
    }

    private double seconds() {
        return (System.nanoTime() - began) / 1e9;
    }
}
