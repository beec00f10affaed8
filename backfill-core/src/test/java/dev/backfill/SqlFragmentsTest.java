package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.Validation.NoRowMatches;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A fragment is one complete piece of SQL by itself, or is refused when it is given (BB-1, SR-5). */
class SqlFragmentsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a IS NULL",
                "(a + b) * array[1, 2][1] > 0",
                "note <> 'it''s ) ; ( [' AND \"odd ) ; name\" IS NULL",
                "note <> E'it\\'s ) ;' AND x",
                "note <> E'a' \n 'b\\'s )'",
                "note <> U&'d\\0061t)' AND B'01' = b",
                "note <> $$ ) ; $$ AND note <> $q1$ $$ ) $q1$",
                "a$b$c > 1 AND d$1 > 2",
                "a -- ) ; ' \n AND b -- (",
                "a /* ( /* nested ' */ ) ; */ AND b",
                "tags ?| array['e'] AND tags @? '$.e ? (@ > 0)'",
                "(SELECT max(x) FROM other WHERE other.id = t.id)",
                "'\\' || a"
            })
    void what_is_complete_is_taken_as_it_is(String sql) {
        assertThat(Repair.update().set("c", sql).where(sql).assignments()).containsEntry("c", sql);
        assertThatCode(() -> Validation.noRowMatches(sql)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "a IS NULL) OR (s > ''              | closes ')' that it does not open (character 10)",
                "(a                                 | opens '(' and does not close it (character 1)",
                "array[1, 2                         | opens '[' and does not close it (character 6)",
                "array[(1]                          | closes ']' where '(' of character 7 is open",
                "(a]                                | closes ']' where '(' of character 1 is open",
                "a = 'x                             | begins a string with '",
                "a = E'x\\'                         | begins a string with '",
                "\"a                                | begins a quoted name with \"",
                "a = $x$ ) $y$                      | begins a dollar-quoted string",
                "a /* b /* c */                     | begins a comment with /*",
                "true; DROP TABLE t                 | holds ';' at character 5",
                "a = $1                             | parameter $1",
                "a = {fn now()}                     | holds '{' at character 5",
                "a = {window}.b                     | written in braces",
                "-- nothing                         | nothing but comments",
                "/* nothing */                      | nothing but comments",
            })
    void what_is_not_complete_is_refused_with_what_is_wrong_and_where(String sql, String message) {
        List.<org.assertj.core.api.ThrowableAssert.ThrowingCallable>of(
                        () -> Repair.update().set("c", sql),
                        () -> Repair.update().where(sql),
                        () -> Repair.update().from(sql),
                        () -> Repair.update().on(sql),
                        () -> Repair.rows().where(sql),
                        () -> Repair.delete().where(sql),
                        () -> Validation.noRowMatches(sql),
                        () -> new NoRowMatches(sql))
                .forEach(given -> assertThatThrownBy(given)
                        .isInstanceOf(InvalidDefinitionException.class)
                        .hasMessageContaining("The SQL of '")
                        .hasMessageContaining(message));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"p WHERE true", "p RETURNING 1", "p UNION SELECT 1", "p ORDER BY 1", "p FOR UPDATE", "p limit 1"
            })
    void a_list_of_tables_ends_where_another_clause_would_begin(String sql) {
        assertThatThrownBy(() -> Repair.update().from(sql)).hasMessageContaining("would end the list of tables");
    }

    @Test
    void a_list_of_tables_may_hold_joins_and_subqueries() {
        String sql = "parents AS p JOIN (SELECT id FROM q WHERE live ORDER BY id LIMIT 5) AS q ON q.id = p.id, r";
        assertThat(Repair.update().from(sql).from()).contains(sql);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO m (id) SELECT w.id FROM {window} AS w ON CONFLICT DO NOTHING",
                "WITH s AS (SELECT * FROM {window} AS w) UPDATE m SET n = s.n FROM s WHERE s.id = m.id",
                "DELETE FROM m USING {window} AS w WHERE w.id = m.id",
                "/* copy */ MERGE INTO m USING {window} AS w ON w.id = m.id WHEN MATCHED THEN DELETE"
            })
    void a_statement_over_the_window_is_taken(String sql) {
        assertThat(Repair.statement(sql).sql()).isEqualTo(sql);
        assertThat(Repair.statement(sql).locksWindow()).isTrue();
    }

    @Test
    void the_window_is_put_in_where_it_is_code_and_nowhere_else() {
        String sql = "INSERT INTO m SELECT '{window}', w.* FROM {window} AS w, {window} AS v -- {window}";
        assertThat(Repair.statement(sql).over("page"))
                .isEqualTo("INSERT INTO m SELECT '{window}', w.* FROM page AS w, page AS v -- {window}");
        assertThatThrownBy(() -> Repair.statement("INSERT INTO m SELECT '{window}' -- {window}"))
                .hasMessageContaining("does not mention {window}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM m USING {window} AS w WHERE w.id = m.id RETURNING m.id",
                "WITH s AS (DELETE FROM m USING {window} AS w RETURNING m.id) SELECT * FROM s",
                "SELECT f(w.id) FROM {window} AS w",
                "EXPLAIN ANALYZE DELETE FROM {window}",
                "CREATE TABLE m AS SELECT * FROM {window}"
            })
    void a_statement_that_only_reads_or_returns_is_refused(String sql) {
        assertThatThrownBy(() -> Repair.statement(sql)).isInstanceOf(InvalidDefinitionException.class);
    }

    /** Complete fragments stay complete in parentheses and beside each other; one bracket more or less, outside quotes, never is. */
    @Test
    void whatever_is_nested_one_bracket_more_or_less_is_refused() {
        Random random = new Random(Long.getLong("fuzz.seed", 17));
        int rounds = Integer.getInteger("fuzz.rounds", 5_000);
        for (int round = 0; round < rounds; round++) {
            String complete = expression(random, 4);
            assertThatCode(() -> SqlFragments.check("x", complete)).as(complete).doesNotThrowAnyException();
            String stray =
                    List.of("(", ")", "[", "]", "'", "\"", "$$", "/*", ";").get(random.nextInt(9));
            String broken = random.nextBoolean() ? complete + " " + stray : stray + " " + complete;
            // A quote in front may pair with one inside: only what stands behind complete SQL is surely open.
            if (broken.startsWith(complete) || "()[];".contains(stray)) {
                assertThatThrownBy(() -> SqlFragments.check("x", broken))
                        .as(broken)
                        .isInstanceOf(InvalidDefinitionException.class);
            }
        }
    }

    private static String expression(Random random, int depth) {
        if (depth == 0) {
            List<String> leaves = List.of(
                    "a",
                    "'(;'",
                    "E'\\'('",
                    "\"x)\"",
                    "$$ ' ( $$",
                    "$t$ $$ ; $t$",
                    "1",
                    "b /* ( ' */",
                    "c -- ) '\n",
                    "d$e");
            return leaves.get(random.nextInt(leaves.size()));
        }
        String one = expression(random, depth - 1);
        String other = expression(random, depth - 1);
        return switch (random.nextInt(4)) {
            case 0 -> "(" + one + "\n)";
            case 1 -> "array[" + one + ", " + other + "]";
            case 2 -> one + " = " + other;
            default -> "f(" + one + ", " + other + ")";
        };
    }
}
