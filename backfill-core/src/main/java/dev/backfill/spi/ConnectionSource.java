package dev.backfill.spi;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Where connections come from, for instance {@code dataSource::getConnection}. Thread-safe.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface ConnectionSource {
    /** A connection in auto-commit mode, outside any transaction, that the caller closes. */
    Connection get() throws SQLException;
}
