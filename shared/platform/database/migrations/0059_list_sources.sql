-- Monitored sources that are feeds or sitemaps: what their lists name, and what of it was crawled.

-- A job that waits for what its source's list names: it has no URL yet, and does not end for that.
alter table jobs
  add column awaits_list boolean not null default false,
  -- what the list came to: see `ListReport`; null where the job has none, or it has not been read
  add column list_report jsonb;

-- A discovery that reads the list of a monitored source, for the job of the same id: {type, url, include, exclude}.
alter table discovery_jobs add column list jsonb;

create table crawl_source_entries (
  source_id uuid not null references crawl_sources on delete cascade,
  url_hash bytea not null,
  url text not null,
  -- what it was listed with last: its date as written, else its id, else nothing
  version text not null,
  -- the version that was crawled last; null: none was
  taken text,
  -- the latest time that its date may mean
  dated timestamptz,
  -- its place in the list that named it first
  position int not null,
  -- the job that it was given to last; null once that has captured it
  job_id uuid,
  -- jobs that were given this version and did not capture it
  tries int not null default 0,
  first_listed_at timestamptz not null default now(),
  primary key (source_id, url_hash)
);
create index crawl_source_entries_due on crawl_source_entries (source_id) where taken is distinct from version;
create index crawl_source_entries_given on crawl_source_entries (source_id) where job_id is not null;

-- The documents that a list consists of, as they were when all their entries were noted.
create table crawl_source_lists (
  source_id uuid not null references crawl_sources on delete cascade,
  url text not null,
  etag text,
  last_modified text,
  -- SHA-256 of the body, hex
  digest text not null,
  -- the date by which an index names it
  named text,
  primary key (source_id, url)
);
