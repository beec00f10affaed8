-- A step that only tests know: what a migration of a later release is like. It waits for whoever writes to the audit.

create index if not exists backfill_audit_later on /*schema.*/backfill_audit (actor);

insert into /*schema.*/backfill_schema_version (version, name, safe_from, library_version)
values (2, 'later', 1, '0.2.0');
