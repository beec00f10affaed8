package dev.backfill.postgres.chaos;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;

/** Sends signals to processes through one shell that stays: a process for each would be too slow to aim. Confined to one thread. */
final class Signals implements AutoCloseable {

    private final Process shell;
    private final BufferedWriter orders;
    private final BufferedReader answers;

    Signals() throws IOException {
        this.shell = new ProcessBuilder("sh").redirectErrorStream(true).start();
        this.orders = new BufferedWriter(new OutputStreamWriter(shell.getOutputStream(), StandardCharsets.UTF_8));
        this.answers = new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns when the signal was sent, or the process was gone. */
    void send(long pid, String signal) throws IOException {
        orders.write("kill -" + signal + " " + pid + " 2>/dev/null; echo sent\n");
        orders.flush();
        if (answers.readLine() == null) {
            throw new IOException("The shell that sends signals has ended.");
        }
    }

    @Override
    public void close() {
        shell.destroyForcibly();
    }
}
