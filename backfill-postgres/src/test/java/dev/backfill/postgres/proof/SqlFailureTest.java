package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.postgres.internal.jdbc.SqlFailure;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What an error says of itself besides its SQLSTATE. */
class SqlFailureTest {

    private static SqlFailure of(String routine) {
        return SqlFailure.of(new PSQLException(new ServerErrorMessage("SERROR\0C54000\0Mx\0R" + routine + "\0")));
    }

    @Test
    void a_server_that_refuses_transaction_ids_is_in_trouble_itself_and_a_value_too_large_is_a_rows() { // RB-3, RB-4
        assertThat(of("GetNewTransactionId")).isEqualTo(SqlFailure.INFRASTRUCTURE);
        assertThat(of("_bt_check_third_page")).isEqualTo(SqlFailure.DATA);
    }
}
