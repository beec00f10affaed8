package dev.backfill.example.shop;

import java.util.List;
import java.util.Locale;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The shop's own traffic. */
@RestController
class CustomerController {

    private final Customers customers;

    CustomerController(Customers customers) {
        this.customers = customers;
    }

    @GetMapping("/customers")
    List<Customer> search(@RequestParam String name) {
        return customers.findBySearchName(name.toLowerCase(Locale.ROOT));
    }
}
