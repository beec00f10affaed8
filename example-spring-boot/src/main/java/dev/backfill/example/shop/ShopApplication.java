package dev.backfill.example.shop;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.postgres.ContractGuard;
import dev.backfill.postgres.FlywayContractGuard;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Everything that the shop says about backfills is here and in {@code application.properties}. */
@SpringBootApplication
public class ShopApplication {

    /** Starts the shop. */
    public static void main(String[] arguments) {
        SpringApplication.run(ShopApplication.class, arguments);
    }

    // region definition
    @Bean
    BackfillDefinition<Long> searchNames() {
        return Backfill.define("customers.search-name.v1")
                .describedAs("Computes search_name for customers written before there was a search")
                .over("customers", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update().set("search_name", "lower(name)").where("search_name IS NULL"))
                .validate(Validation.noRowMatches("search_name IS NULL"))
                .requires("customers", "search_name", "text")
                .build();
    }
    // endregion

    // region guard
    @Bean
    FlywayContractGuard searchNamesAreThere() {
        return FlywayContractGuard.before("3", ContractGuard.of("customers.search-name.v1").over("customers"));
    }
    // endregion
}
