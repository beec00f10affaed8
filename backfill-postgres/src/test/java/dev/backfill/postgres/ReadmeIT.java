package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.text.Normalizer;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the README shows, compiled and run. */
@PostgresTest
class ReadmeIT {

    // region definition
    static final BackfillDefinition<Long> THREAD_ROOTS = Backfill.define("events.thread-root.v1")
            .describedAs("Computes thread_root for events written before threads existed")
            .over("events", Keys.bigint("id"))
            .batchSize(1_000)
            .repair(Repair.update()
                    .set("thread_root", "(tags #>> '{e,0}')::bigint")
                    .where("thread_root IS NULL AND tags ? 'e'"))
            .validate(Validation.noRowMatches("thread_root IS NULL AND tags ? 'e'"))
            .build();
    // endregion

    // region row-style
    static final BackfillDefinition<Long> SEARCH_TEXT = Backfill.define("events.search-text.v1")
            .over("events", Keys.bigint("id"))
            .repair(Repair.rows().reading("content").writing("search_text", row -> {
                String content = row.text("content");
                return content == null ? "" : Normalizer.normalize(content, Normalizer.Form.NFKC);
            }))
            .validate(Validation.noRowMatches("search_text IS DISTINCT FROM normalize(coalesce(content, ''), NFKC)"))
            .build();
    // endregion

    // region custom-style
    static final BackfillDefinition<Long> EVENT_COUNTS = Backfill.define("channels.event-counts.v1")
            .over("events", Keys.bigint("id"))
            .repair((batch, transaction) -> {
                try (var update = transaction.connection().prepareStatement("""
                        UPDATE channels AS c SET event_count = c.event_count + n.events
                        FROM (SELECT channel, count(*) AS events FROM events WHERE id = ANY (?) GROUP BY channel) AS n
                        WHERE c.id = n.channel""")) {
                    update.setArray(
                            1,
                            transaction
                                    .connection()
                                    .createArrayOf("bigint", batch.keys().toArray()));
                    return update.executeUpdate();
                }
            })
            .validate(transaction -> {
                try (var count = transaction.connection().createStatement();
                        var row = count.executeQuery("SELECT (SELECT coalesce(sum(event_count), 0) FROM channels)"
                                + " >= (SELECT count(*) FROM events WHERE " + transaction.withinBound("events")
                                + ")")) {
                    return row.next() && row.getBoolean(1)
                            ? ValidationOutcome.holds()
                            : ValidationOutcome.rejected("Channels count fewer events than there are.");
                }
            })
            .build();
    // endregion

    private final TestDatabase db;

    ReadmeIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_table() {
        db.clear();
        db.execute("create table channels (id bigint primary key, event_count bigint not null default 0)");
        db.execute(
                "create table events (id bigint primary key, channel bigint not null, content text, tags jsonb not null,"
                        + " thread_root bigint, search_text text)");
        db.execute("insert into channels (id) values (0), (1)");
        db.execute("insert into events (id, channel, content, tags) select g, g % 2, 'ﬁne ' || g,"
                + " jsonb_build_object('e', jsonb_build_array(g / 2)) from generate_series(1, 5000) as g");
    }

    private static Backfills host(DataSource dataSource) {
        // region host
        Backfills backfills = PostgresBackfills.on(dataSource)
                .definitions(THREAD_ROOTS, SEARCH_TEXT)
                .requiredAtStartup("events.thread-root.v1") // automatic mode; leave out for manual
                .schema(SchemaMode.MIGRATE) // or VERIFY, and apply the published migrations yourself
                .options(EngineOptions.builder().workers(2).build())
                .operators((authority, capability) -> authority.kind() == Authority.Kind.HOST) // without it, nobody
                .startup(); // waits for no backfill
        // endregion
        return backfills;
    }

    @Test
    void the_readme_tells_the_truth() { // CF-1, CF-3
        try (Backfills backfills = host(db.dataSource())) {
            // region operate
            ActionOutcome outcome = backfills
                    .operations()
                    .start(new OperatorRequest(
                            SEARCH_TEXT.id(),
                            UUID.randomUUID().toString(), // repeat the same ID after a lost answer
                            Authority.host("deploy"),
                            "release 42"));
            BackfillSnapshot now = backfills.operations().show(Authority.host("deploy"), SEARCH_TEXT.id());
            // endregion
            assertThat(outcome).isInstanceOf(ActionOutcome.Applied.class);
            assertThat(now.state()).isNotEqualTo(BackfillState.PENDING);
            Eventually.until(
                    "the required backfill opens the gate",
                    () -> backfills.readiness().isOpen());
            Eventually.until(
                    "the started one completes",
                    () -> backfills
                                    .operations()
                                    .show(Authority.host("deploy"), SEARCH_TEXT.id())
                                    .state()
                            == BackfillState.COMPLETED);
        }
        assertThat(db.queryLong("select count(*) from events where thread_root = id / 2"))
                .isEqualTo(5000);
        assertThat(db.queryLong("select count(*) from events where search_text = 'fine ' || id"))
                .isEqualTo(5000);
    }
}
