package dev.backfill.postgres.protocol;

/**
 * One thing that happened.
 *
 * @param name what, in the words of the code
 * @param world what is so afterwards
 * @param breach which invariant it broke; null for none
 */
record Step(String name, World world, String breach) {}
