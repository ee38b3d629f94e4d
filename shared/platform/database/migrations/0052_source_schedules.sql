-- When the schedule of a source was last told of a change: what is lost on the way is told again.
alter table crawl_sources add column schedule_told_at timestamptz not null default now();

-- Sources from before schedules fired are told of as they stand: those without one have nothing to be told.
update crawl_sources set schedule_pending = false
  where deleted_at is null and (schedule_cron is null or not is_active);

comment on column crawl_sources.last_fired_at is
  'up to when firings are done with, whatever became of them: the scheduled time, or when a late one was heard of';

-- Sources that are revisited adaptively: {shortest_hours, longest_hours}; null: at each time of the schedule.
alter table crawl_sources add column revisit jsonb;
-- how long it is left alone now; null before the first visit that could be compared
alter table crawl_sources add column revisit_hours double precision;
-- the latest job by which that was judged
alter table crawl_sources add column revisit_job_id uuid;
-- the scheduled time of the firing that began the latest job
alter table crawl_sources add column last_run_at timestamptz;

-- Webhooks that hear of the jobs of one source alone.
alter table webhooks add column source_id uuid references crawl_sources on delete cascade;
create index webhooks_source on webhooks (source_id) where source_id is not null;
