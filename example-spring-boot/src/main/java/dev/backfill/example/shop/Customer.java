package dev.backfill.example.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.PrePersist;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Table;
import java.util.Locale;

/** A customer. Whoever is written from now on has a search name; the backfill is for those from before. */
@Entity
@Table(name = "customers")
public class Customer {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    private String name;
    private String searchName;

    protected Customer() {}

    Customer(String name) {
        this.name = name;
    }

    @PrePersist
    @PreUpdate
    void keepSearchName() {
        searchName = name.toLowerCase(Locale.ROOT);
    }

    public Long getId() {
        return id;
    }

    public String getName() {
        return name;
    }
}
