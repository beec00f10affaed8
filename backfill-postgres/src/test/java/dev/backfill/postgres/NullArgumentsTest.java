package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.DeleteRepair;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.RowRepair;
import dev.backfill.StatementRepair;
import dev.backfill.TableName;
import dev.backfill.UpdateRepair;
import dev.backfill.Validation;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.HealthLimits;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.ConnectionSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Null, from a host's code that no checker reads, is refused where it is given and by the argument's name. */
class NullArgumentsTest {

    private static Arguments refused(String argument, String call, ThrowingCallable by) {
        return Arguments.of(argument, call, by);
    }

    private static BackfillDefinition.Builder<Long> definition() {
        return Backfill.define("items.v1").over("items", Keys.bigint("id"));
    }

    private static Backfills.Builder host() {
        ConnectionSource none = () -> {
            throw new SQLException("not asked");
        };
        return PostgresBackfills.on(none);
    }

    static Stream<Arguments> ofADefinition() {
        return Stream.of(
                refused("id", "define", () -> Backfill.define(null)),
                refused("sentence", "describedAs", () -> Backfill.define("a").describedAs(null)),
                refused("table", "over", () -> Backfill.define("a").over((String) null, Keys.bigint("id"))),
                refused("table", "over", () -> Backfill.define("a").over((TableName) null, Keys.bigint("id"))),
                refused("key", "over", () -> Backfill.define("a").over("items", (KeyType<Long>) null)),
                refused("name", "label", () -> definition().label(null, "v")),
                refused("value", "label", () -> definition().label("n", null)),
                refused("repair", "repair", () -> definition().repair((UpdateRepair) null)),
                refused("repair", "repair", () -> definition().repair((RowRepair) null)),
                refused("repair", "repair", () -> definition().repair((StatementRepair) null)),
                refused("repair", "repair", () -> definition().repair((DeleteRepair) null)),
                refused("repair", "repair", () -> definition().repair((Repair.Custom<Long>) null)),
                refused("proof", "validate", () -> definition().validate((Validation) null)),
                refused("proof", "validate", () -> definition().validate((Validation.Custom<Long>) null)),
                refused("table", "requires", () -> definition().requires(null, "c")),
                refused("column", "requires", () -> definition().requires("t", null)),
                refused("type", "requires", () -> definition().requires("t", "c", null)),
                refused("limits", "pacing", () -> definition().pacing(null)));
    }

    static Stream<Arguments> ofItsParts() {
        UpdateRepair set = Repair.update().set("a", "1");
        RowRepair reading = Repair.rows().reading("a");
        return Stream.of(
                refused("column", "set", () -> Repair.update().set(null, "1")),
                refused("set a", "set", () -> Repair.update().set("a", null)),
                refused("column", "a second set", () -> set.set(null, "1")),
                refused("where", "where", () -> set.where(null)),
                refused("from", "from", () -> set.from(null)),
                refused("on", "on", () -> set.on(null)),
                refused("statement", "statement", () -> Repair.statement(null)),
                refused("where", "delete where", () -> Repair.delete().where(null)),
                refused("code", "custom", () -> Repair.custom(null)),
                refused("columns", "reading", () -> Repair.rows().reading((String[]) null)),
                refused("column", "reading", () -> Repair.rows().reading((String) null)),
                refused("column", "writing", () -> reading.writing(null, row -> 1)),
                refused("value", "writing", () -> reading.writing("a", null)),
                refused("noRowMatches", "noRowMatches", () -> Validation.noRowMatches(null)),
                refused("key column", "bigint", () -> Keys.bigint(null)),
                refused("collation", "text", () -> Keys.text("a", null)),
                refused("type", "enumerated", () -> Keys.enumerated("a", null)),
                refused("parts", "compound", () -> Keys.compound((KeyType<?>[]) null)),
                refused("part", "compound", () -> Keys.compound(Keys.bigint("a"), null)));
    }

    static Stream<Arguments> ofAHost() {
        return Stream.of(
                refused("dataSource", "on", () -> PostgresBackfills.on((DataSource) null)),
                refused("connections", "on", () -> PostgresBackfills.on((ConnectionSource) null)),
                refused("definitions", "definitions", () -> host().definitions((BackfillDefinition<?>[]) null)),
                refused("definition", "definitions", () -> host().definitions((BackfillDefinition<?>) null)),
                refused("definitions", "definitions", () -> host().definitions((Iterable<BackfillDefinition<?>>) null)),
                refused(
                        "definition",
                        "definitions",
                        () -> host().definitions(Arrays.asList((BackfillDefinition<?>) null))),
                refused("ids", "requiredAtStartup", () -> host().requiredAtStartup((String[]) null)),
                refused("id", "requiredAtStartup", () -> host().requiredAtStartup((String) null)),
                refused("mode", "schema", () -> host().schema(null)),
                refused("schema", "schemaName", () -> host().schemaName(null)),
                refused("options", "options", () -> host().options(null)),
                refused("authorizer", "operators", () -> host().operators(null)),
                refused("sink", "audit", () -> host().audit((AuditSink) null)),
                refused("listener", "listener", () -> host().listener((BackfillListener) null)),
                refused("migrations", "hostMigrations", () -> host().hostMigrations(null)),
                refused("name", "processName", () -> host().processName(null)));
    }

    static Stream<Arguments> ofOptions() {
        Map<String, BiFunction<EngineOptions.Builder, Duration, EngineOptions.Builder>> durations = Map.ofEntries(
                Map.entry("lease", EngineOptions.Builder::lease),
                Map.entry("transactionTimeout", EngineOptions.Builder::transactionTimeout),
                Map.entry("statementTimeout", EngineOptions.Builder::statementTimeout),
                Map.entry("lockTimeout", EngineOptions.Builder::lockTimeout),
                Map.entry("idleInTransactionTimeout", EngineOptions.Builder::idleInTransactionTimeout),
                Map.entry("poll", EngineOptions.Builder::poll),
                Map.entry("retryBase", EngineOptions.Builder::retryBase),
                Map.entry("retryCap", EngineOptions.Builder::retryCap),
                Map.entry("barrierTimeout", EngineOptions.Builder::barrierTimeout),
                Map.entry("validationTimeout", EngineOptions.Builder::validationTimeout),
                Map.entry("closeTimeout", EngineOptions.Builder::closeTimeout),
                Map.entry("workerSocketTimeout", EngineOptions.Builder::workerSocketTimeout),
                Map.entry("operatorTimeout", EngineOptions.Builder::operatorTimeout));
        return Stream.concat(
                durations.entrySet().stream()
                        .map(setter -> refused(
                                setter.getKey(),
                                setter.getKey(),
                                () -> setter.getValue().apply(EngineOptions.builder(), null))),
                Stream.of(
                        refused(
                                "lease",
                                "scaledToLease",
                                () -> EngineOptions.builder().scaledToLease(null)),
                        refused(
                                "limits",
                                "health",
                                () -> EngineOptions.builder().health(null)),
                        refused("every", "every", () -> HealthLimits.builder().every(null)),
                        refused("probe", "probe", () -> HealthLimits.builder().probe(null))));
    }

    @ParameterizedTest(name = "{0} of {1}")
    @MethodSource({"ofADefinition", "ofItsParts", "ofAHost", "ofOptions"})
    void null_is_refused_by_the_name_of_the_argument(String argument, String call, ThrowingCallable by) {
        assertThatThrownBy(by).isInstanceOf(NullPointerException.class).hasMessage(argument);
    }
}
