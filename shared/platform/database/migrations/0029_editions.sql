-- Sources, and the archive jobs that make their editions.

create table sources (
  -- without a dot, so that it is no host
  code text primary key check (code ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  name text not null,
  base_url text,
  description text,
  -- how its jobs are named: see `jobName`
  name_template text not null,
  seeds text[] not null,
  -- language → the page that visitors begin with
  entry_pages jsonb not null default '{}',
  engine text not null check (engine in ('native', 'zimit')),
  passthrough_args text[] not null default '{}',
  tool_options jsonb not null default '{}',
  schedule_hint text,
  -- new jobs are made for it
  enabled boolean not null default true,
  -- for trying things out: what it captures is never public
  reserved boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table archive_jobs (
  -- of one sequence with those of crawls, so that one number names one job
  id bigint primary key default nextval(pg_get_serial_sequence('jobs', 'number')),
  source_code text not null references sources,
  name text not null,
  -- prefix of what the engine leaves in the bucket beside WARC files
  output_dir text not null,
  engine text not null check (engine in ('native', 'zimit', 'register')),
  status text not null check (status in
    ('queued', 'running', 'retryable', 'failed', 'completed', 'indexing', 'indexed', 'index_failed')),
  config jsonb not null,
  retry_count smallint not null default 0,
  -- begins no sooner
  not_before timestamptz not null default now(),
  queued_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  crawler_exit_code int,
  crawler_status text,
  crawler_stage text,
  -- why it stands where it stands, in words
  error text,
  last_stats jsonb,
  pages_crawled int not null default 0,
  pages_total int not null default 0,
  pages_failed int not null default 0,
  warc_file_count int not null default 0,
  warc_bytes_total bigint not null default 0,
  output_bytes_total bigint not null default 0,
  storage_scanned_at timestamptz,
  indexed_page_count int not null default 0,
  final_zim_path text,
  combined_log_path text,
  state_file_path text,
  cleanup_status text not null default 'none' check (cleanup_status in ('none', 'temp_cleaned')),
  cleaned_at timestamptz,
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index archive_jobs_source on archive_jobs (source_code, id);
create index archive_jobs_open on archive_jobs (id) where status in ('queued', 'running', 'retryable', 'completed', 'indexing');

-- What captured for it: crawls and imports.
alter table jobs
  add column source_code text references sources,
  add column archive_job_id bigint references archive_jobs,
  -- captures of a reserved source: the public sees none of them
  add column hidden boolean not null default false;
create index jobs_source on jobs (source_code) where source_code is not null;
create index jobs_archive_job on jobs (archive_job_id) where archive_job_id is not null;
create index jobs_hidden on jobs (id) where hidden;
-- a file that is going to be uploaded
alter table warc_imports add column source_code text references sources;

create or replace function note_captures_changed() returns trigger language plpgsql as $$
begin
  insert into changes_due (page)
  select distinct page_of(final_url) from changed
  where warc_key is not null and reused_from is null and mime_type like '%html%'
    and job_id not in (select id from jobs where hidden);
  return null;
end $$;
create or replace function note_snapshots() returns trigger language plpgsql as $$
begin
  insert into snapshots_due (capture_id)
  select id from added where warc_key is not null and reused_from is null and mime_type like '%html%'
    and job_id not in (select id from jobs where hidden);
  return null;
end $$;

-- The search's filter by source asks for nothing else of a snapshot's job.
alter table snapshot_index add column source_code text;
create function note_source() returns trigger language plpgsql as $$
begin
  new.source_code := (select j.source_code from captures c join jobs j on j.id = c.job_id where c.id = new.capture_id);
  return new;
end $$;
create trigger snapshot_index_source before insert on snapshot_index for each row execute function note_source();
create index snapshot_index_source on snapshot_index (source_code, captured_at desc, capture_id desc)
  where source_code is not null;
