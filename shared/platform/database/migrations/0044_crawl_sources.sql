-- Monitored crawl sources: what is crawled again and again, by a schedule or when somebody asks.

create table crawl_sources (
  id uuid primary key,
  name text not null,
  type text not null check (type in ('page', 'site', 'sitemap', 'feed')),
  url text not null,
  -- what its jobs are told, as requests for crawls have it
  options jsonb not null default '{}',
  -- five fields; null: crawled only when somebody asks
  schedule_cron text,
  time_zone text not null default 'UTC',
  is_active boolean not null default true,
  -- grows with each change, so that news of an earlier one is known as such
  version int not null default 1,
  -- its schedule has not been told of the latest change
  schedule_pending boolean not null default true,
  -- the scheduled time of the latest firing that was heard of, whatever became of it
  last_fired_at timestamptz,
  -- of the latest job that was begun for it
  last_crawled_at timestamptz,
  -- why the latest firing began no job
  last_error text,
  api_key_id uuid references api_keys on delete set null,
  -- kept until its schedule is gone
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index crawl_sources_pending on crawl_sources (id) where schedule_pending;
create index crawl_sources_active on crawl_sources (id) where is_active and deleted_at is null;

-- Jobs that crawl for a source: one at a time.
alter table jobs add column crawl_source_id uuid references crawl_sources on delete set null;
create index jobs_crawl_source on jobs (crawl_source_id, id) where crawl_source_id is not null;
create unique index jobs_crawl_source_open on jobs (crawl_source_id)
  where crawl_source_id is not null and status in ('pending', 'running', 'embedding');
