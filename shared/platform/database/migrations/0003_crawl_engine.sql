-- The crawl engine in full: results in the order in which they became known, time limits, retries of jobs, revisits that
-- point at the original response, rendered pages, discovery, domain settings, proxies, and dead letters that are sent again.

alter table jobs
  -- the crawl makes no request later than this, and completes with what it has
  add column deadline_at timestamptz,
  add column timed_out boolean not null default false,
  -- URLs that have ended as results; the last `result_seq` given
  add column results int not null default 0 check (results >= 0),
  -- how the results of a spider job are delivered; null: by the crawl API
  add column delivery text check (delivery in ('answer', 'stream', 'store')),
  -- a stream job ends when nobody has listened since; null: nobody needs to
  add column watched_at timestamptz,
  add column retry_of uuid references jobs on delete set null,
  -- the frontier rows of a job that ended long ago go; its row and its captures stay
  add column results_removed boolean not null default false;
create index jobs_with_results on jobs (completed_at) where not results_removed and completed_at is not null;
create index jobs_stored on jobs (api_key_id) where delivery = 'store' and status in ('pending', 'running', 'embedding');
create index jobs_deadline on jobs (deadline_at)
  where deadline_at is not null and status in ('pending', 'running');

-- Given under the job's lock when a URL ends, so that it follows the order of commits: who has read up to n has missed
-- nothing below n. The ids of captures are taken earlier, by transactions that may commit in another order.
alter table frontier add column result_seq int;
create unique index frontier_results on frontier (job_id, result_seq) where result_seq is not null;

-- The level of a breadth-first crawl: the least depth of what awaits its first try or is being tried, and the hosts that have
-- pages of it.
create index frontier_level on frontier (job_id, depth, host) where attempt = 0 and state in ('pending', 'claimed');

-- What a running job counts beside its pages: those of each host, and what gives traps away. Gone when the job has ended.
create table crawl_counts (
  job_id uuid not null references jobs on delete cascade,
  -- host: URLs claimed; query_shapes, query_variants, same_text, calendar, refused: see traps.ts
  kind text not null,
  key text not null,
  count int not null,
  primary key (job_id, kind, key)
);

alter table captures
  -- the capture that holds the original response, where this one is a revisit of it
  add column revisit_of bigint,
  -- the capture whose answer was used again instead of a request
  add column reused_from bigint,
  -- why and by what the page was rendered, and where its DOM lies in the archive
  add column rendered jsonb;
-- A capture that was used again points to the same record.
drop index captures_warc;
create unique index captures_warc on captures (warc_key, warc_offset) where reused_from is null;

-- Identical bodies under endlessly many URLs.
create index captures_payload on captures (job_id, payload_digest) where error_code is null;

create table discovery_jobs (
  id uuid primary key,
  domain text not null,
  sources text[] not null,
  pattern text,
  max_urls int not null,
  score_query text,
  score_threshold double precision not null default 0,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  error text,
  urls_found int not null default 0,
  -- messages sent to the worker, and when the last one was; null: it could not be sent
  sends int not null default 1,
  sent_at timestamptz default now(),
  -- claim check in S3: the URLs with lastmod, source and score
  result_key text,
  -- what went wrong with single sitemaps, and how many entries were refused
  notes jsonb not null default '[]',
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create index discovery_jobs_open on discovery_jobs (created_at) where status in ('pending', 'running');

alter table crawl_configs add column updated_at timestamptz not null default now();

create table domain_settings (
  -- host, lower case, with its port where that is not the scheme's default
  domain text primary key,
  -- null, here and below: as the deployment is set
  rate_limit_rps double precision check (rate_limit_rps > 0),
  circuit_breaker_threshold int check (circuit_breaker_threshold > 0),
  circuit_breaker_timeout_s int check (circuit_breaker_timeout_s > 0),
  is_blocked boolean not null default false,
  blocked_reason text,
  updated_at timestamptz not null default now(),
  -- grows with each change, and is never below the epoch in ms, so that it grows even where an older copy of the database is
  -- brought back; `applied_revision` is the last one that the host item in the state table is known to hold
  revision bigint not null,
  applied_revision bigint not null default 0
);
create index domain_settings_unapplied on domain_settings (updated_at) where applied_revision < revision;

-- What became of the URLs of a domain, over all jobs: counted as captures arrive, since counting them afterwards would read
-- every capture.
create table domain_counts (
  domain text primary key,
  crawled bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  -- tries that were followed by another
  retried bigint not null default 0,
  -- of `crawled`: answered by the crawl cache, without a request
  reused bigint not null default 0,
  payload_bytes bigint not null default 0,
  last_capture_at timestamptz not null
);

create table proxy_configs (
  id uuid primary key,
  name text not null unique,
  -- url, username, password; never shown
  servers jsonb not null,
  rotation_strategy text not null default 'round_robin'
    check (rotation_strategy in ('round_robin', 'least_used', 'random')),
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);

-- Captures older than this are not used again; `*` is every domain.
create table crawl_cache_cleared (
  domain text primary key,
  cleared_at timestamptz not null default now()
);
create table cache_counts (
  cache text primary key,
  hits bigint not null default 0,
  misses bigint not null default 0
);

alter table dead_letters
  -- waiting: sent again at `redrive_at`; sent: on its way; recovered: what it asked for is done; ended: its work ended as lost
  add column state text not null default 'ended' check (state in ('waiting', 'sent', 'recovered', 'ended')),
  -- the task, and the capture batch or else the task: one letter speaks of it, however often its message dies
  add column task_id uuid,
  add column subject text,
  add column redrives int not null default 0,
  add column redrive_at timestamptz,
  -- of the fault that can never pass
  add column error_code text,
  add column updated_at timestamptz not null default now(),
  add unique (queue, subject);
create index dead_letters_open on dead_letters (redrive_at) where state in ('waiting', 'sent');
create index dead_letters_job on dead_letters (job_id);

create index jobs_failed on jobs (id) where status = 'failed' or failed > 0;
-- one retry of a job at a time
create unique index jobs_one_retry on jobs (retry_of)
  where retry_of is not null and status in ('pending', 'running', 'embedding');
