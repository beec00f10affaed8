-- Contract: runs only once the counters of channels.event-counts.v1 have taken the place of the guess. Nothing reads it any more.
alter table channels drop column if exists estimated_events;
