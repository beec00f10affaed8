package dev.backfill.postgres.internal.batch;

import dev.backfill.RowRepair;
import dev.backfill.RowRepair.Row;
import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.jdbc.ReadRow;
import dev.backfill.postgres.internal.jdbc.RowFunctionException;
import dev.backfill.postgres.internal.jdbc.RowValues;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.supervise.OverdueException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A Java function over the window's locked rows, written back in one statement, only where something differs. */
public final class RowWindow implements WindowRepair {

    private final RowRepair repair;
    private final PageSql.Forms lock;
    private final PageSql.@Nullable Forms lockOfLook;
    private final PageSql.@Nullable Forms inNeed;
    private final List<String> keyColumns;
    private final List<String> readColumns;
    private final WriteBackSql writeBack;
    private final Duration idle;

    RowWindow(KeySql key, String tableName, RowRepair repair, TableFacts facts, Duration idle, boolean byIndex) {
        this.idle = idle;
        this.repair = repair;
        String alias = Identifiers.quote(tableName);
        Map<String, String> columns = key.rowTextColumns(alias);
        keyColumns = List.copyOf(columns.keySet());
        readColumns =
                IntStream.range(0, repair.reads().size()).mapToObj(i -> "r" + i).toList();
        for (int i = 0; i < readColumns.size(); i++) {
            columns.put(
                    readColumns.get(i),
                    alias + "." + Identifiers.quote(repair.reads().get(i)) + "::text");
        }
        String condition = repair.condition()
                .map(given -> SqlText.escapeOperators(given) + "\n")
                .orElse("true");
        PageSql page = new PageSql(key);
        lock = page.lock(columns, condition);
        lockOfLook = repair.condition().isEmpty() ? null : page.lockOfLook(columns, condition, byIndex);
        inNeed = repair.condition().isEmpty() ? null : page.inNeed(condition);
        writeBack = new WriteBackSql(key, List.copyOf(repair.writes().keySet()), facts);
    }

    @Override
    public PageSql.Forms first() {
        return lock;
    }

    @Override
    public PageSql.@Nullable Forms firstOfLook() {
        return lockOfLook;
    }

    @Override
    public PageSql.@Nullable Forms inNeed() {
        return inNeed;
    }

    @Override
    public Optional<WriteBackSql> writeBack() {
        return Optional.of(writeBack);
    }

    @Override
    public Window run(Session session, Claim claim, WindowSize size, PreparedStatement first) throws Exception {
        List<ReadRow> rows = new ArrayList<>();
        Window window = Window.END_OF_SOURCE;
        try (ResultSet row = first.getResultSet()) {
            while (row.next()) {
                String key = row.getString(keyColumns.get(0));
                if (key == null) {
                    window = new Window(Values.texts(row, "last"), row.getLong("scanned"), 0);
                } else {
                    rows.add(read(row));
                }
            }
        }
        if (rows.isEmpty()) {
            return window;
        }
        List<String> last = Objects.requireNonNull(window.last());
        return new Window(last, window.scanned(), 0, written(claim, size, last, rows));
    }

    private WriteBackSql.Write written(Claim claim, WindowSize size, List<String> last, List<ReadRow> rows)
            throws RowFunctionException, OverdueException {
        List<List<String>> keys = new ArrayList<>(rows.size());
        String[][] values = new String[repair.writes().size()][rows.size()];
        long began = System.nanoTime();
        for (int i = 0; i < rows.size(); i++) {
            ReadRow row = rows.get(i);
            keys.add(row.key());
            int column = 0;
            for (var write : repair.writes().entrySet()) {
                values[column++][i] = apply(write.getKey(), write.getValue(), row);
            }
        }
        Duration quiet = Duration.ofNanos(System.nanoTime() - began);
        IdleTime.throwIfOver(quiet, idle);
        Sql.Params range = PageSql.params(claim, size).and("edge", Values.array(last));
        return writeBack.write(claim, size, range, keys, values);
    }

    private static @Nullable String apply(
            String column, Function<? super Row, ? extends @Nullable Object> value, ReadRow row)
            throws RowFunctionException {
        try {
            return RowValues.text(value.apply(row));
        } catch (dev.backfill.BackfillException e) {
            // Blocked, retryable, or a column that was not read: says itself what it is.
            throw e;
        } catch (RuntimeException e) {
            throw new RowFunctionException(column, e);
        }
    }

    private ReadRow read(ResultSet row) throws SQLException {
        return new ReadRow(repair.reads(), List.of(texts(row, keyColumns)), texts(row, readColumns));
    }

    private static String[] texts(ResultSet row, List<String> columns) throws SQLException {
        String[] texts = new String[columns.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = row.getString(columns.get(i));
        }
        return texts;
    }
}
