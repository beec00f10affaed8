/** A shop that repairs its customers: a Spring Boot application as a user of the library would write it. */
package dev.backfill.example.shop;
