-- Version 3: families, one repair over several key ranges. Schema only; the last statement records that it was applied (SC-3).
-- Apply it in one transaction, with a lock_timeout. A library of the version before may go on running: it never writes the new
-- columns, and a row that has them is in format 2, which it leaves alone (ID-5).

alter table /*schema.*/backfill
    add column range_parts integer,
    add column range_low text[],
    add constraint backfill_range_is_of_a_family check (range_low is null or range_parts is not null);

-- The key ranges of a family, written once, by the first start of any of its parts, and never changed. Part i ends at the i-th
-- split and begins after the one before it; the part after the last split ends at the bound; parts beyond that are empty.
create table /*schema.*/backfill_family (
    family      varchar(128)  not null,
    parts       integer       not null,
    key_codec   varchar(1000) not null,
    bound       text[],
    bound_empty boolean       not null,
    splits      text[]        not null,
    captured_at timestamptz   not null default clock_timestamp(),
    constraint backfill_family_pk primary key (family),
    constraint backfill_family_has_parts check (parts between 2 and 100),
    constraint backfill_family_empty_iff_bound_null check (bound_empty = (bound is null)),
    constraint backfill_family_has_fewer_splits_than_parts check (coalesce(array_length(splits, 1), 0) < parts)
);

insert into /*schema.*/backfill_schema_version (version, name, safe_from, library_version)
values (3, 'families', 1, '0.1.0');
