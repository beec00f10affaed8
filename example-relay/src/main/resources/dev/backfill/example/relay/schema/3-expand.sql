-- Expand: only what the version before this one can live with. New columns are nullable, so that adding them is instant.
alter table events add column if not exists thread_root bigint;
alter table events add column if not exists search_text text;
alter table channels add column if not exists retention_days integer;

create table if not exists mentions (
    event_id     bigint      not null,
    position     integer     not null,
    mentioned    uuid        not null,
    community_id uuid        not null,
    created_at   timestamptz not null,
    constraint mentions_pk primary key (event_id, position)
);

create table if not exists channel_counters (
    channel_id     bigint  not null,
    live_events    bigint  not null default 0, -- kept by the write path
    history_events bigint  not null default 0, -- kept by the backfill
    history_id_sum numeric not null default 0,
    constraint channel_counters_pk primary key (channel_id)
);
