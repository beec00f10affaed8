/** The shop as its users and operators meet it, on either line of Spring Boot. */
package dev.backfill.example.shop;
