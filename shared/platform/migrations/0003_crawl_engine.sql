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
  add column retry_of uuid references jobs on delete set null;
create index jobs_stored on jobs (api_key_id) where delivery = 'store' and status in ('pending', 'running', 'embedding');
create index jobs_deadline on jobs (deadline_at)
  where deadline_at is not null and status in ('pending', 'running');

-- Given under the job's lock when a URL ends, so that it follows the order of commits: who has read up to n has missed
-- nothing below n. The ids of captures are taken earlier, by transactions that may commit in another order.
alter table frontier add column result_seq int;
create unique index frontier_results on frontier (job_id, result_seq) where result_seq is not null;

alter table captures
  -- the capture that holds the original response, where this one is a revisit of it
  add column revisit_of bigint,
  -- the capture whose answer was used again instead of a request
  add column reused_from bigint,
  -- why and by what the page was rendered, and where its DOM lies in the archive
  add column rendered jsonb;

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
  -- claim check in S3: the URLs with lastmod, source and score
  result_key text,
  -- what went wrong with single sitemaps, and how many entries were refused
  notes jsonb not null default '[]',
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create index discovery_jobs_open on discovery_jobs (created_at) where status in ('pending', 'running');

create table domain_settings (
  -- host, lower case, with its port where that is not the scheme's default
  domain text primary key,
  rate_limit_rps double precision check (rate_limit_rps > 0),
  circuit_breaker_threshold int not null default 5 check (circuit_breaker_threshold > 0),
  circuit_breaker_timeout_s int not null default 300 check (circuit_breaker_timeout_s > 0),
  is_blocked boolean not null default false,
  blocked_reason text,
  updated_at timestamptz not null default now()
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
  -- waiting: sent again at `redrive_at`; sent: on its way; ended: its work ended as lost
  add column state text not null default 'ended' check (state in ('waiting', 'sent', 'ended')),
  add column redrives int not null default 0,
  add column redrive_at timestamptz;
create index dead_letters_due on dead_letters (redrive_at) where state = 'waiting';
