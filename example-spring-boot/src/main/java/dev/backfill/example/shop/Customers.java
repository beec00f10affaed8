package dev.backfill.example.shop;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;

/** The customers. */
public interface Customers extends JpaRepository<Customer, Long> {

    /** Who is called that, in any case. */
    List<Customer> findBySearchName(String searchName);
}
