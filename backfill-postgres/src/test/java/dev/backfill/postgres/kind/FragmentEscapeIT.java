package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.Validation;
import dev.backfill.postgres.proof.Shrink;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * No fragment that is taken can change what stands around it, as PostgreSQL itself reads it (BB-1, SR-5). {@code -Dfuzz.rounds=…} tries
 * more, {@code -Dfuzz.seed=…} others; what escapes is shrunk before it is shown.
 */
@PostgresTest
class FragmentEscapeIT {

    private static final List<String> TOKENS = List.of(
            "true", " or ", " and ", "(", ")", "(", ")", "'", "'", "\"", "$$", "$a$", "--", "\n", "/*", "*/", "E'",
            "\\", "[", "]", "a", "1", "=", "U&'", " ", ",", "$", "''");

    private static final List<String> QUOTED = List.of(
            "'%s' = ''", "E'\\'%s' = ''", "$$%s$$ = ''", "$a$%s$a$ = ''", "true /* /* */ %s */", "true -- %s\n");

    private static final int ROUNDS = Integer.getInteger("fuzz.rounds", 20_000);
    private static final long SEED = Long.getLong("fuzz.seed", 20_417);

    private final TestDatabase db;

    FragmentEscapeIT(TestDatabase db) {
        this.db = db;
    }

    @Test
    void nothing_that_is_taken_escapes_its_parentheses() throws SQLException {
        Random random = new Random(SEED);
        int taken = 0;
        int escapes = 0;
        try (Connection connection = db.connection()) {
            for (int round = 0; round < ROUNDS; round++) {
                List<String> tokens = fragment(random);
                String fragment = String.join("", tokens);
                if (isTaken(fragment)) {
                    taken++;
                    assertThat(escapes(connection, fragment))
                            .as(() -> "seed " + SEED + ": " + smallest(connection, tokens))
                            .isFalse();
                } else if (fragment.contains("or") && escapes(connection, fragment)) {
                    escapes++;
                }
            }
        }
        assertThat(taken).as("fragments that were taken").isGreaterThan(100);
        assertThat(escapes)
                .as("fragments that were refused, and would have escaped")
                .isGreaterThan(10);
    }

    /** Anything, or the two halves of an escape, whose brackets may be balanced by some that are quoted. */
    private static List<String> fragment(Random random) {
        Stream<String> noise =
                Stream.generate(() -> TOKENS.get(random.nextInt(TOKENS.size()))).limit(1 + random.nextInt(7));
        return switch (random.nextInt(3)) {
            case 0 -> Stream.concat(Stream.of("true"), noise).toList();
            case 1 ->
                Stream.of(Stream.of("true) or ("), noise, Stream.of(" true"))
                        .flatMap(tokens -> tokens)
                        .toList();
            default -> List.of("true or ", quoted(random, "("), ") or (", quoted(random, ")"), " or true");
        };
    }

    private static String smallest(Connection connection, List<String> tokens) {
        return String.join("", Shrink.shrunk(tokens, left -> {
            String fragment = String.join("", left);
            return isTaken(fragment) && escapes(connection, fragment);
        }));
    }

    private static String quoted(Random random, String bracket) {
        return String.format(Locale.ROOT, QUOTED.get(random.nextInt(QUOTED.size())), bracket);
    }

    private static boolean isTaken(String fragment) {
        try {
            return Validation.noRowMatches(fragment) != null;
        } catch (InvalidDefinitionException e) {
            return false;
        }
    }

    /** Whether a row is found that the condition beside the fragment excludes. */
    private static boolean escapes(Connection connection, String fragment) {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            try (ResultSet row = statement.executeQuery(
                    "SELECT 1 FROM (VALUES (true)) AS v (a) WHERE false AND (" + fragment + "\n)")) {
                return row.next();
            }
        } catch (SQLException e) {
            return false;
        }
    }
}
