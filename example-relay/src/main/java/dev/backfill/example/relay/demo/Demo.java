package dev.backfill.example.relay.demo;

import dev.backfill.BackfillDefinition;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.database.EmbeddedServer;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The demo from beginning to end. Confined to one thread. */
final class Demo {

    private static final Authority OPERATOR = Authority.operator("demo");
    private static final String LEASE = "3s";
    private static final Duration GLANCE = Duration.ofMillis(5);
    private static final Duration LONGEST = Duration.ofMinutes(30);

    private final int rows;
    private final Path directory;
    private final Resources resources;
    private final Display display;

    Demo(int rows, Path directory, Resources resources, Display display) {
        this.rows = rows;
        this.directory = directory;
        this.resources = resources;
        this.display = display;
    }

    /** Runs it; whether the proof holds. */
    boolean run() throws Exception {
        EmbeddedServer server = resources.add(EmbeddedServer.in(directory));
        display.say(
                "PostgreSQL is up; two relays start on it, and the first to come writes %,d events of history", rows);
        List<RelayProcess> relays = List.of(relay("relay-1", server.url()), relay("relay-2", server.url()));
        Queries queries = resources.add(new Queries(server.url()));
        awaitRegistration(queries, relays);
        Witness.install(queries);

        Console console = resources.add(Console.on(server.url(), OPERATOR));
        Takeover takeover = new Takeover(server.url(), queries, relays);
        start(console);
        watch(console, takeover, relays);
        Proof proof = new Proof(queries);
        proof.count();
        takeover.testify(proof, LEASE);
        validate(console, proof);
        for (RelayProcess survivor : takeover.survivors()) {
            int code = survivor.stop();
            proof.claim(code == 0, "  %s stopped on SIGTERM with exit code %d", survivor.name(), code);
        }
        return print(proof);
    }

    private RelayProcess relay(String name, String jdbcUrl) throws Exception {
        int workers = RelayBackfills.all().size(); // so that the survivor is never too busy to take over
        RelayProcess relay = RelayProcess.start(
                name,
                directory,
                List.of(
                        "--jdbc-url",
                        jdbcUrl,
                        "--port",
                        "0",
                        "--admin-port",
                        "0",
                        "--seed-rows",
                        Integer.toString(rows),
                        "--auto-backfill",
                        "off",
                        "--workers",
                        Integer.toString(workers),
                        "--lease",
                        LEASE,
                        "--poll",
                        "200ms",
                        "--retry-base",
                        "100ms",
                        "--retry-cap",
                        "2s"));
        resources.add(relay::kill);
        return relay;
    }

    private void awaitRegistration(Queries queries, List<RelayProcess> relays) throws Exception {
        int all = RelayBackfills.all().size();
        Patience.until("the relays have registered their backfills", LONGEST, Duration.ofMillis(50), () -> {
            relays.forEach(relay -> {
                if (!relay.isAlive()) {
                    throw new DemoFailure(relay.name() + " ended before its time; its log is in " + directory + ".");
                }
            });
            return queries.isTrue("SELECT to_regclass('backfill') IS NOT NULL")
                    && queries.number("SELECT count(*) FROM backfill") == all;
        });
        display.say(
                "%,d events are there, %d backfills are registered and pending",
                queries.number("SELECT count(*) FROM events"), all);
    }

    private void start(Console console) {
        for (BackfillDefinition<?> definition : RelayBackfills.all()) {
            ActionOutcome outcome = console.operations()
                    .start(new OperatorRequest(definition.id(), "demo-start-" + definition.id(), OPERATOR, null));
            if (!(outcome instanceof ActionOutcome.Applied)) {
                throw new DemoFailure("Starting " + definition.id() + " came to " + outcome + ".");
            }
        }
        display.say("All started by the operator 'demo'");
    }

    private void watch(Console console, Takeover takeover, List<RelayProcess> relays) throws Exception {
        Patience.until("every backfill is completed", LONGEST, GLANCE, () -> {
            takeover.step().ifPresent(news -> display.say("%s", news));
            if (!display.isDue()) {
                return false; // the moment to strike is short: look at nothing else meanwhile
            }
            List<BackfillSnapshot> now = console.operations().list(OPERATOR).backfills();
            requireNoneStuck(now);
            display.progress(now, relays);
            return now.stream().allMatch(b -> b.state() == BackfillState.COMPLETED);
        });
        display.say("Every backfill is completed");
    }

    private static void requireNoneStuck(List<BackfillSnapshot> backfills) {
        for (BackfillSnapshot backfill : backfills) {
            if (backfill.state() == BackfillState.BLOCKED || backfill.state() == BackfillState.FAILED) {
                throw new DemoFailure(
                        backfill.id() + " is " + backfill.state().wireName() + ": " + backfill.diagnostic());
            }
        }
    }

    private void validate(Console console, Proof proof) throws Exception {
        long held = 0;
        for (BackfillDefinition<?> definition : RelayBackfills.all()) {
            OperatorRequest request =
                    new OperatorRequest(definition.id(), "demo-validate-" + definition.id(), OPERATOR, null);
            ValidationReport[] report = new ValidationReport[1];
            // A validation that takes long answers later: the same request asks again.
            Patience.until(
                    "the validation of " + definition.id() + " has ended", LONGEST, Duration.ofMillis(100), () -> {
                        report[0] = console.operations().validate(request);
                        return !(report[0] instanceof ValidationReport.CurrentState);
                    });
            held += report[0] instanceof ValidationReport.Success ? 1 : 0;
        }
        int all = RelayBackfills.all().size();
        proof.claim(held == all, "  explicit validations that held: %d of %d", held, all);
    }

    private boolean print(Proof proof) {
        display.print("");
        display.print("Proof, by queries of the demo's own:");
        display.print("");
        proof.lines().forEach(display::print);
        display.print("");
        display.print(proof.holds() ? "The proof holds." : "THE PROOF DOES NOT HOLD.");
        return proof.holds();
    }
}
