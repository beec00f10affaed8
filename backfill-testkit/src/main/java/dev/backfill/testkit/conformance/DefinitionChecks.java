package dev.backfill.testkit.conformance;

import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;

/** Every check of one definition, over one prepared rig. */
final class DefinitionChecks<K> implements AutoCloseable {

    private final Rig<K> rig;
    private final RunChecks<K> run;
    private final CrashChecks<K> crash;
    private final RivalChecks<K> rivals;
    private final ValidationChecks<K> validation;

    DefinitionChecks(TestDatabase database, Subject<K> subject) throws SQLException {
        this.rig = new Rig<>(database, subject);
        this.run = new RunChecks<>(rig);
        this.crash = new CrashChecks<>(rig, run);
        this.rivals = new RivalChecks<>(rig, run);
        this.validation = new ValidationChecks<>(rig);
    }

    void prepare() throws Exception {
        rig.prepare();
    }

    @Override
    public void close() throws SQLException {
        rig.close();
    }

    RunChecks<K> run() {
        return run;
    }

    CrashChecks<K> crash() {
        return crash;
    }

    RivalChecks<K> rivals() {
        return rivals;
    }

    ValidationChecks<K> validation() {
        return validation;
    }
}
