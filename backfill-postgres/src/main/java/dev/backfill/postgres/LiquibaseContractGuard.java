package dev.backfill.postgres;

import dev.backfill.postgres.internal.jdbc.Redaction;
import java.sql.SQLException;
import liquibase.database.Database;
import liquibase.database.jvm.JdbcConnection;
import liquibase.exception.CustomPreconditionErrorException;
import liquibase.exception.CustomPreconditionFailedException;
import liquibase.precondition.CustomPrecondition;
import org.jspecify.annotations.Nullable;

/**
 * The contract guard as a Liquibase precondition of a change set: a {@code customPrecondition} with this class name, a parameter
 * {@code ids} (comma-separated) and, if need be, {@code source} (see {@link ContractGuard#over}) and {@code schema}. Leave {@code onFail} and {@code onError} at {@code HALT}.
 *
 * <p>Liquibase checks preconditions before the transaction of the change set; since completion is immutable, the answer still holds
 * in it. Confined to one thread; needs Liquibase on the class path, which the rest of the library does not.
 *
 * @since 0.1
 */
public final class LiquibaseContractGuard implements CustomPrecondition {

    private String ids = "";
    private @Nullable String source;
    private @Nullable String schema;

    /** Called by Liquibase. */
    public LiquibaseContractGuard() {}

    /** What must have completed, separated by commas. */
    public void setIds(String given) {
        this.ids = given;
    }

    /** The source table of the definitions, so that a new database passes. */
    public void setSource(String given) {
        this.source = given;
    }

    /** The schema of the library's tables; default the search path. */
    public void setSchema(String given) {
        this.schema = given;
    }

    @Override
    public void check(Database database) throws CustomPreconditionFailedException, CustomPreconditionErrorException {
        if (!(database.getConnection() instanceof JdbcConnection connection)) {
            throw new CustomPreconditionErrorException(
                    "A contract guard needs a connection to PostgreSQL; this change log runs without one.");
        }
        try {
            ContractGuard guard = ContractGuard.of(ids.strip().split("\\s*,\\s*"));
            guard = source == null ? guard : guard.over(source);
            guard = schema == null ? guard : guard.inSchema(schema);
            guard.check(connection.getUnderlyingConnection());
        } catch (NotCompletedException e) {
            throw new CustomPreconditionFailedException(e.getMessage(), e);
        } catch (SQLException e) {
            throw new CustomPreconditionErrorException(
                    "Whether backfills have completed could not be asked, so the change set was not begun.",
                    Redaction.of(e));
        }
    }
}
