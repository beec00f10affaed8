package dev.backfill.testkit.conformance;

import dev.backfill.internal.Identifiers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A write of the application that fits any table: one row gets, in the columns that the repair reads at most, what another row of
 * the seed has there. Gives up at once where the row is locked.
 */
final class LiveWrite {

    private final Rig<?> rig;
    private final String row;
    private final String donor;
    private final List<String> columns;

    private LiveWrite(Rig<?> rig, String row, String donor, List<String> columns) {
        this.rig = rig;
        this.row = row;
        this.donor = donor;
        this.columns = columns;
    }

    /** One that changes what the repair makes of the row; null if the data has none. */
    static @Nullable LiveWrite choose(Rig<?> rig) {
        DataTable source = rig.data().source();
        List<String> inputs = inputs(rig);
        List<Change> changed = rig.changes().stream()
                .filter(change -> change.table().equals(source) && !change.isInsert() && !change.isDelete())
                .toList();
        if (inputs.isEmpty() || changed.size() < 2) {
            return null;
        }
        Map<String, @Nullable String> outputs = new java.util.HashMap<>();
        for (Change change : changed) {
            outputs.put(change.row(), outcome(rig, change.row(), inputs));
        }
        for (Change change : changed) {
            for (Change other : changed) {
                LiveWrite write = new LiveWrite(rig, change.row(), other.row(), inputs);
                if (!Objects.equals(outputs.get(change.row()), outputs.get(other.row())) && write.isPossible()) {
                    return write;
                }
            }
        }
        return null;
    }

    /** Columns that are no part of the key and that the repair leaves alone. */
    private static List<String> inputs(Rig<?> rig) {
        DataTable source = rig.data().source();
        Set<String> written = new HashSet<>(rig.database()
                .queryTexts("select distinct n.key from " + source.copy(TestData.SEED) + " s join "
                        + source.copy(TestData.REPAIRED)
                        + " r on " + source.identityOf("s") + " = " + source.identityOf("r")
                        + " cross join lateral jsonb_each(to_jsonb(s)) o join lateral jsonb_each(to_jsonb(r)) n on n.key = o.key"
                        + " where n.value is distinct from o.value"));
        List<String> inputs = new ArrayList<>(source.settable());
        inputs.removeAll(source.identity());
        inputs.removeAll(written);
        return List.copyOf(inputs);
    }

    /** What the repair left in a row, besides its key and its inputs. */
    private static @Nullable String outcome(Rig<?> rig, String row, List<String> inputs) {
        DataTable source = rig.data().source();
        List<String> without = new ArrayList<>(inputs);
        without.addAll(source.identity());
        return rig.database()
                .queryText(
                        "select (to_jsonb(s) - ?::text[])::text from " + source.copy(TestData.REPAIRED) + " s where "
                                + source.identityOf("s") + " = ?",
                        "{" + without.stream().map(c -> '"' + c + '"').collect(Collectors.joining(",")) + "}",
                        row);
    }

    private boolean isPossible() {
        rig.reset();
        return run();
    }

    /** Writes and commits; false if the row was locked or a constraint forbids it. */
    boolean run() {
        DataTable source = rig.data().source();
        String names = columns.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
        try (Connection connection = rig.database().get();
                Statement statement = connection.createStatement();
                PreparedStatement update = connection.prepareStatement("update " + source.name() + " s set (" + names
                        + ") = (select " + names + " from " + source.copy(TestData.SEED) + " d where "
                        + source.identityOf("d")
                        + " = ?) where " + source.identityOf("s") + " = ?")) {
            connection.setAutoCommit(false);
            // For this transaction: a pooler would hand a setting of the session on to whoever comes next.
            statement.execute("set local lock_timeout = '50ms'");
            update.setString(1, donor);
            update.setString(2, row);
            int updated = update.executeUpdate();
            connection.commit();
            return updated == 1;
        } catch (SQLException e) {
            return false;
        }
    }
}
