-- The whole model of the pipeline: who may call, what was asked for, what was seen, what can be searched.
-- Only what PostgreSQL 16, 17 and 18 all have. UUIDs are version 7 and come from the application.

create table api_keys (
  id uuid primary key,
  key_hash bytea not null unique check (length(key_hash) = 32),
  -- first characters of the key, to tell keys apart in a list
  prefix text not null,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['read', 'write', 'admin']),
  rate_limit_rpm int not null check (rate_limit_rpm > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  is_active boolean not null default true
);

create table collections (
  id uuid primary key,
  name text not null unique,
  description text,
  created_at timestamptz not null default now()
);

create table tags (
  id uuid primary key,
  name text not null unique check (name = lower(name)),
  created_at timestamptz not null default now()
);

create table crawl_configs (
  id uuid primary key,
  name text not null unique,
  settings jsonb not null,
  created_at timestamptz not null default now()
);

create table jobs (
  id uuid primary key,
  kind text not null check (kind in ('pages', 'site', 'archive', 'import')),
  status text not null default 'pending'
    check (status in ('pending', 'running', 'embedding', 'completed', 'failed', 'cancelled')),
  stop_reason text check (stop_reason in
    ('completed', 'max_pages', 'max_depth', 'timeout', 'budget_exhausted', 'manual_stop', 'error')),
  priority text not null default 'normal' check (priority in ('high', 'normal', 'low')),
  api_key_id uuid references api_keys on delete set null,
  collection_id uuid references collections on delete set null,
  generation_id uuid not null unique,
  -- kind-specific, validated by the application: seeds, scope, limits, effective crawl config, tags
  settings jsonb not null,
  error text,
  cancel_requested boolean not null default false,
  -- frontier rows by what became of them; discovered = open + crawled + failed + skipped
  discovered int not null default 0,
  open_urls int not null default 0 check (open_urls >= 0),
  crawled int not null default 0,
  failed int not null default 0,
  skipped int not null default 0,
  -- URLs that may still be claimed are max_pages - claimed
  claimed int not null default 0 check (claimed >= 0),
  documents int not null default 0,
  chunks int not null default 0,
  unembedded_chunks int not null default 0 check (unembedded_chunks >= 0),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  updated_at timestamptz not null default now(),
  check (discovered = open_urls + crawled + failed + skipped)
);
create index jobs_open on jobs (status) where status in ('pending', 'running', 'embedding');
create index jobs_completed on jobs (completed_at);

create table frontier (
  job_id uuid not null references jobs on delete cascade,
  url_hash bytea not null check (length(url_hash) = 32),
  url text not null,
  host text not null,
  depth int not null,
  score real,
  -- lower goes first; encodes the strategy
  priority double precision not null,
  state text not null default 'pending' check (state in ('pending', 'claimed', 'crawled', 'failed', 'skipped')),
  attempt smallint not null default 0,
  not_before timestamptz not null default now(),
  task_id uuid,
  lease_until timestamptz,
  -- how often the present task was sent since it last made progress
  sends smallint not null default 0,
  discovered_from text,
  capture_id bigint,
  error_code text,
  primary key (job_id, url_hash),
  check ((state = 'claimed') = (task_id is not null and lease_until is not null))
);
create index frontier_pending on frontier (job_id, host, priority) where state = 'pending';
create index frontier_retried on frontier (job_id, host) where state = 'pending' and attempt > 0;
create index frontier_claimed on frontier (job_id, host, task_id) where state = 'claimed';
create index frontier_lease on frontier (lease_until) where state = 'claimed';
-- the order of discovery, in which results are listed
create index frontier_order on frontier (job_id, priority, url_hash);

create table captures (
  id bigint generated always as identity primary key,
  job_id uuid not null references jobs on delete cascade,
  url text not null,
  url_hash bytea not null,
  final_url text not null,
  -- of the normalised final URL: the key of the page's document within the job's generation
  final_url_hash bytea not null,
  canonical_url text,
  redirects jsonb not null default '[]',
  depth int not null,
  status_code int not null,
  headers jsonb not null,
  mime_type text,
  charset text,
  language text,
  title text,
  etag text,
  last_modified text,
  fetched_at timestamptz not null,
  fetch_time_ms double precision not null,
  payload_bytes bigint not null,
  payload_digest text,
  truncated boolean not null,
  not_modified boolean not null,
  error_code text,
  error_message text,
  error_retryable boolean,
  warc_key text,
  warc_offset bigint,
  warc_length bigint,
  warc_record_id uuid,
  -- the capture batch in S3 that holds the extraction, and the position in it
  batch_key text not null,
  batch_index int not null
);
create index captures_job on captures (job_id, id);
create index captures_url on captures (url_hash, fetched_at desc);
create unique index captures_warc on captures (warc_key, warc_offset);

create table documents (
  id uuid primary key,
  generation_id uuid not null,
  generation_active boolean not null default false,
  job_id uuid references jobs on delete set null,
  capture_id bigint references captures on delete set null,
  url text not null,
  url_hash bytea not null,
  domain text not null,
  parent_url text,
  title text,
  content text not null,
  markdown text not null,
  content_hash bytea not null,
  language text not null,
  source text not null default 'crawl' check (source in ('crawl', 'upload', 'api')),
  collection_id uuid references collections on delete set null,
  metadata jsonb not null default '{}',
  -- what the page links to: a recrawl that is answered 304 follows these
  links text[] not null default '{}',
  crawled_at timestamptz not null,
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (generation_id, url_hash)
);
create unique index documents_active_url on documents
  (url_hash, coalesce(collection_id, '00000000-0000-0000-0000-000000000000'))
  where generation_active and deleted_at is null;
create index documents_active_domain on documents (domain) where generation_active;
create index documents_inactive on documents (generation_id) where not generation_active;

-- Measured: pglz takes 1.1 ms of CPU for the two texts of a page of 1,900 words, more than all the rest of its row. So LZ4,
-- and no compression where the server was built without it.
do $$
begin
  if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
    alter table documents alter content set compression lz4, alter markdown set compression lz4;
  else
    alter table documents alter content set storage external, alter markdown set storage external;
  end if;
end $$;

create view documents_active as
  select * from documents where generation_active and deleted_at is null;

create table document_tags (
  document_id uuid not null references documents on delete cascade,
  tag_id uuid not null references tags on delete cascade,
  primary key (document_id, tag_id)
);

create table sections (
  id uuid primary key,
  document_id uuid not null references documents on delete cascade,
  parent_section_id uuid references sections on delete cascade,
  heading text,
  level int not null,
  content text not null,
  position int not null,
  unique (document_id, position)
);
create index sections_parent on sections (parent_section_id) where parent_section_id is not null;

create table chunks (
  id uuid primary key,
  document_id uuid not null references documents on delete cascade,
  section_id uuid references sections on delete set null,
  chunk_index int not null,
  content text not null,
  content_hash bytea not null,
  start_char int not null,
  end_char int not null,
  token_count int not null,
  section_header text,
  content_type text not null check (content_type in ('prose', 'code', 'table', 'list')),
  fts tsvector not null,
  unique (document_id, chunk_index)
);
create index chunks_fts on chunks using gin (fts);
create index chunks_section on chunks (section_id) where section_id is not null;

-- Whether a chunk has its vector; a chunk without a row wants none. A table of its own, since an update of a chunk writes its
-- text and its words once more, into every index: measured, 1.7 to 3 ms of CPU a page.
create table embeddings (
  chunk_id uuid primary key references chunks on delete cascade,
  -- none: embeddings were switched off meanwhile; failed: the embedder refuses this text
  state text not null default 'pending' check (state in ('pending', 'done', 'none', 'failed')),
  model text,
  attempts smallint not null default 0
) with (fillfactor = 70);

create table embedding_cache (
  model text not null,
  content_hash bytea not null,
  -- little-endian float32
  vector bytea not null,
  created_at timestamptz not null default now(),
  primary key (model, content_hash)
);
create index embedding_cache_age on embedding_cache (created_at);

create table dead_letters (
  id uuid primary key,
  queue text not null,
  message_id text not null unique,
  body text not null,
  job_id uuid references jobs on delete cascade,
  receive_count int not null,
  created_at timestamptz not null default now()
);
