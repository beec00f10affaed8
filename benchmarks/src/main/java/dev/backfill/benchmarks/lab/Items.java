package dev.backfill.benchmarks.lab;

/** The table that is repaired: one column of it, from another, on rows of about a hundred bytes. */
public final class Items {

    /** What the column is set to. */
    public static final String EXPRESSION = "upper(name)";

    /** Which rows still need it. */
    public static final String NEEDED = "name_upper is null";

    private Items() {}

    /** The statements that make it. Autovacuum stays away, or it would visit some runs and not others. */
    public static String[] of(long rows) {
        return new String[] {
            "create table items (id bigint not null, tenant integer not null, amount bigint not null,"
                    + " name text not null, name_upper text) with (autovacuum_enabled = off)",
            "insert into items select g, g % 1000, g * 7 % 100000, 'item number ' || g || ' of tenant ' || g % 1000, null"
                    + " from generate_series(1, " + rows + ") g",
            "alter table items add constraint items_pk primary key (id)",
        };
    }
}
