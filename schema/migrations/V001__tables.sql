-- Version 1: the tables. Schema only; the last statement records that it was applied (SC-3).
-- Apply it in one transaction, with a lock_timeout. It creates and changes nothing else, so that it waits for nobody.

-- The one row of a backfill. Touched by claim, fence, renewal and transitions only: descriptive metadata lives in
-- backfill_definition, so that a booting process never queues behind a batch. No index may cover a column that a batch
-- changes, or its updates stop being heap-only.
create table /*schema.*/backfill (
    id                 varchar(128) not null,
    no                 integer      not null generated always as identity,
    contract           integer      not null default 1,
    state              varchar(16)  not null default 'pending',
    generation         bigint       not null default 0,
    claim_token        uuid,
    claim_owner        varchar(200),
    claimed_at         timestamptz,
    claim_expires_at   timestamptz,
    key_codec          varchar(1000),
    bound              text[],
    bound_empty        boolean      not null default false,
    bound_captured_at  timestamptz,
    bound_xmax         bigint,
    barrier_system     bigint,
    barrier_timeline   integer,
    barrier_since      timestamptz,
    barrier_passed_at  timestamptz,
    checkpoint         text[],
    batches            bigint       not null default 0,
    rows_scanned       bigint       not null default 0,
    rows_changed       bigint       not null default 0,
    rows_estimated     bigint,
    worked_micros      bigint       not null default 0,
    attempts           integer      not null default 0,
    contended          integer      not null default 0,
    next_attempt_at    timestamptz,
    failure_code       varchar(64),
    failure_message    varchar(1024),
    failure_sql_state  varchar(5),
    failure_at         timestamptz,
    wait_reason        varchar(32),
    wait_detail        varchar(1024),
    wait_since         timestamptz,
    registered_at      timestamptz  not null default now(),
    started_at         timestamptz,
    last_progress_at   timestamptz,
    validating_at      timestamptz,
    completed_at       timestamptz,
    completed_lsn      varchar(32),
    completed_system   bigint,
    completed_timeline integer,
    range_parts        integer,
    range_low          text[],
    target_schema      varchar(63),
    target_table       varchar(63),
    target_oid         bigint,
    target_database    bigint,
    target_system      bigint,
    constraint backfill_pk primary key (id),
    constraint backfill_no_unique unique (no),
    constraint backfill_state_is_known check (state in ('pending', 'running', 'paused', 'blocked', 'failed', 'validating', 'completed')),
    constraint backfill_generation_not_negative check (generation >= 0),
    constraint backfill_claim_is_whole check ((claim_token is null) = (claim_expires_at is null)),
    constraint backfill_claim_only_while_working check (claim_token is null or state in ('running', 'validating')),
    constraint backfill_pending_iff_no_bound check ((state = 'pending') = (bound_captured_at is null)),
    constraint backfill_started_with_bound check ((started_at is null) = (bound_captured_at is null)),
    constraint backfill_empty_iff_bound_null check (bound_captured_at is null or bound_empty = (bound is null)),
    constraint backfill_codec_with_bound check (bound is null or key_codec is not null),
    constraint backfill_checkpoint_needs_bound check (checkpoint is null or bound is not null),
    constraint backfill_completed_iff_time check ((state = 'completed') = (completed_at is not null)),
    constraint backfill_counts_not_negative check (batches >= 0 and rows_scanned >= 0 and rows_changed >= 0 and attempts >= 0 and contended >= 0 and worked_micros >= 0),
    constraint backfill_range_is_of_a_family check (range_low is null or range_parts is not null),
    constraint backfill_target_is_whole check ((target_oid is null) = (target_schema is null) and (target_oid is null) = (target_table is null) and (target_oid is null) = (target_database is null) and (target_oid is null) = (target_system is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

create index backfill_claimable on /*schema.*/backfill (id) where state in ('running', 'validating');

-- Descriptive metadata; the last registration wins (ID-2).
create table /*schema.*/backfill_definition (
    id              varchar(128)  not null,
    description     varchar(500),
    labels          jsonb         not null default '{}',
    table_name      varchar(200)  not null,
    key_codec       varchar(1000) not null,
    style           varchar(16)   not null,
    batch_size      integer       not null,
    with_write_path boolean       not null default false,
    family          varchar(128),
    library_version varchar(40)   not null,
    updated_at      timestamptz   not null default now(),
    constraint backfill_definition_pk primary key (id)
);

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

-- The latest explicit validation of an ID (EV-5), and the one under way.
create table /*schema.*/backfill_validation (
    id                 varchar(128) not null,
    disposition        varchar(16),
    request_id         varchar(128),
    actor              varchar(200),
    at                 timestamptz,
    code               varchar(64),
    message            varchar(1024),
    sql_state          varchar(5),
    running_request_id varchar(128),
    running_since      timestamptz,
    constraint backfill_validation_pk primary key (id),
    constraint backfill_validation_disposition_is_known check (disposition in ('success', 'failure'))
);

-- The request ledger (IK-2, IK-3): kept for good, so that an old request that comes back late is answered, never executed.
create table /*schema.*/backfill_request (
    request_id      varchar(128) not null,
    action          varchar(16)  not null,
    id              varchar(128) not null,
    actor           varchar(200) not null,
    parameters      varchar(500),
    result          varchar(24),
    prior_state     varchar(16),
    resulting_state varchar(16),
    generation      bigint,
    note            varchar(500),
    code            varchar(64),
    message         varchar(1024),
    sql_state       varchar(5),
    requested_at    timestamptz  not null default now(),
    answered_at     timestamptz,
    constraint backfill_request_pk primary key (request_id)
);

-- Append-only (AU-3). How long records are kept is the host's decision: docs/operate.md shows how to prune.
create table /*schema.*/backfill_audit (
    audit_id        bigint       not null generated always as identity,
    at              timestamptz  not null default clock_timestamp(),
    actor           varchar(200),
    authority       varchar(40)  not null,
    id              varchar(128),
    request_id      varchar(128),
    action          varchar(16)  not null,
    prior_state     varchar(16),
    resulting_state varchar(16),
    generation      bigint,
    outcome         varchar(24)  not null,
    note            varchar(1024),
    constraint backfill_audit_pk primary key (audit_id)
);

create index backfill_audit_by_id on /*schema.*/backfill_audit (id, audit_id);

-- An operator's pacing of one backfill; absent means the definition's own.
create table /*schema.*/backfill_pace (
    id                   varchar(128) not null,
    pause_ratio          double precision,
    rows_per_second      bigint,
    wal_bytes_per_second bigint,
    target_batch_millis  bigint,
    updated_by           varchar(200),
    updated_at           timestamptz not null default now(),
    constraint backfill_pace_pk primary key (id)
);

-- Which migrations have been applied, and from which library schema version on it is safe to run on them (SC-5).
create table /*schema.*/backfill_schema_version (
    version         integer      not null,
    name            varchar(200) not null,
    safe_from       integer      not null,
    library_version varchar(40)  not null,
    applied_at      timestamptz  not null default clock_timestamp(),
    constraint backfill_schema_version_pk primary key (version)
);

insert into /*schema.*/backfill_schema_version (version, name, safe_from, library_version)
values (1, 'tables', 1, '0.1.0');
