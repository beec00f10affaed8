package dev.backfill.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import org.junit.jupiter.api.Test;

// region a-database
@PostgresTest
class OrdersIT {
    @Test
    void an_order_is_kept(TestDatabase database) {
        database.execute("create table orders (id bigint primary key)");
        database.execute("insert into orders values (42)");
        assertThat(database.queryLong("select id from orders")).isEqualTo(42);
    }
}
// endregion
