-- The relay as it was before threads, mentions and counters existed.
create table communities (
    id         uuid        not null,
    name       text        not null,
    settings   jsonb       not null default '{}',
    deleting   boolean     not null default false,
    created_at timestamptz not null
);

create table channels (
    id               bigint  not null,
    community_id     uuid    not null,
    name             text    not null,
    estimated_events bigint  -- a guess by hand, replaced by channel_counters; the contract step drops it
);

create table events (
    id           bigint      not null,
    uid          uuid        not null,
    community_id uuid        not null,
    channel_id   bigint      not null,
    kind         integer     not null,
    author       uuid        not null,
    content      text,       -- null for reactions, and once deleted
    tags         jsonb,      -- null in the oldest events
    created_at   timestamptz not null,
    deleted_at   timestamptz
) with (fillfactor = 80);
