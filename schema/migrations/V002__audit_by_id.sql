-- Version 2: an index for the audit of one backfill, built concurrently: apply each statement outside a transaction (SC-3).
-- A build that was interrupted leaves an invalid index: drop it, concurrently, and apply this again. The library does so itself.

create index concurrently if not exists backfill_audit_by_id on /*schema.*/backfill_audit (id, audit_id);

insert into /*schema.*/backfill_schema_version (version, name, safe_from, library_version)
values (2, 'audit_by_id', 1, '0.1.0');
