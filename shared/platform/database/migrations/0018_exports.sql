-- Jobs as WACZ files. A row stands for the work until it has ended.
create table exports (
  id uuid primary key,
  job_id uuid not null references jobs on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  error text,
  object_key text not null,
  bytes bigint,
  sha256 text,
  records int not null default 0,
  pages int not null default 0,
  -- times that the work was begun
  attempts int not null default 0,
  lease_until timestamptz,
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);
create index exports_open on exports (updated_at) where status in ('pending', 'running');
create index exports_job on exports (job_id);

-- The key by which this deployment signs what it exports.
create table signing_keys (
  id smallint primary key default 1 check (id = 1),
  private_key text not null,
  created_at timestamptz not null default now()
);
