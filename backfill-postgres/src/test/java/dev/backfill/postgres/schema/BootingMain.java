package dev.backfill.postgres.schema;

import dev.backfill.BackfillException;
import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.startup.Host;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A host process that does what its standard input says, a line at a time, and answers each with a line: {@code boot} an engine,
 * {@code ask} it whether it is started, {@code await} that, {@code close} it. It ends when its input does, so that it never outlives
 * the test.
 */
final class BootingMain {

    private static @Nullable Backfills engine;

    private BootingMain() {}

    public static void main(String[] arguments) throws IOException, SQLException {
        // What a process has to load before it can boot is loaded here, so that the boots themselves meet.
        try (Connection warm = DriverManager.getConnection(arguments[0])) {
            answer(warm.isValid(0) ? "READY" : "NO DATABASE");
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            answer(obeyed(command, arguments[0]));
        }
        Runtime.getRuntime().halt(0); // as a process that goes without a word
    }

    private static void answer(String text) {
        System.out.println(BootingProcess.MARK + text);
    }

    private static String obeyed(String command, String url) {
        switch (command) {
            case "boot" ->
                engine = Host.ofVersion(() -> DriverManager.getConnection(url), SchemaMode.MIGRATE, LaterRelease.STEPS);
            case "await" -> Host.awaitStarted(booted());
            case "close" -> booted().close();
            case "ask" -> {
                return asked();
            }
            default -> throw new IllegalArgumentException(command);
        }
        return command + " done";
    }

    private static Backfills booted() {
        return Objects.requireNonNull(engine, "no boot so far");
    }

    private static String asked() {
        try {
            booted().requireStarted();
            return "STARTED";
        } catch (BackfillUnavailableException e) {
            return e.reason() + " " + e.getMessage();
        } catch (BackfillException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
