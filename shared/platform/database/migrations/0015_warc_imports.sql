-- WARC files that others wrote: each object is indexed once, in slices, by a job of its own.

alter table captures
  -- null: gzip, as Strandline writes; see `warcPlaceSchema`
  add column warc_coding text check (warc_coding in ('zstd', 'none')),
  -- decompressed bytes before the record in its member; null: it begins the member
  add column warc_inner bigint,
  -- what a revisit of others says of its original: {recordId, url, date}; revisit_of is null until that is found
  add column refers_to jsonb,
  -- the payload digest that the record of others states
  add column stated_digest text,
  -- records of others have any URI
  alter column warc_record_id type text;
drop index captures_warc;
create unique index captures_warc on captures (warc_key, warc_offset, coalesce(warc_inner, 0)) where reused_from is null;
create index captures_dangling on captures (job_id) where refers_to is not null and revisit_of is null;

create table warc_imports (
  id uuid primary key,
  -- null: announced, and not uploaded yet
  job_id uuid references jobs on delete cascade,
  object_key text not null,
  -- of the object that is indexed; null as job_id is
  etag text,
  bytes bigint,
  -- hex; of an upload that was announced
  sha256 text,
  status text not null check (status in ('announced', 'pending', 'running', 'completed', 'failed')),
  error text,
  -- where the next slice begins
  next_offset bigint not null default 0,
  next_inner bigint not null default 0,
  -- records by type, captures and complaints by code
  records jsonb not null default '{}',
  captures int not null default 0,
  complaints int not null default 0,
  -- slices that were begun since the last one that came to something
  attempts int not null default 0,
  lease_until timestamptz,
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);
create unique index warc_imports_object on warc_imports (object_key, etag) where etag is not null;
create index warc_imports_open on warc_imports (updated_at) where status in ('pending', 'running');
create index warc_imports_job on warc_imports (job_id);

-- Capture batches of imports that ingest has not taken yet: [first, last) of the batch object.
create table warc_import_batches (
  batch_key text not null,
  first int not null,
  last int not null,
  import_id uuid not null references warc_imports on delete cascade,
  sent_at timestamptz not null default now(),
  -- times that its message ended among the dead letters
  deaths smallint not null default 0,
  primary key (batch_key, first)
);
create index warc_import_batches_import on warc_import_batches (import_id);

create table warc_complaints (
  import_id uuid not null references warc_imports on delete cascade,
  seq int not null,
  code text not null,
  message text not null,
  byte_offset bigint not null,
  record_id text,
  url text,
  primary key (import_id, seq)
);
