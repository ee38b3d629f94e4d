-- What readers of the archive are not shown: captures of some URLs, or those of them that are younger than so many days. Nothing of
-- it is deleted: it is shown again as soon as the exclusion goes.
create table archive_exclusions (
  id uuid primary key,
  -- as it was asked for: `*` is the whole archive
  url text not null,
  match_type text not null check (match_type in ('exact', 'prefix', 'host', 'domain', 'all')),
  -- null: captures of any age
  embargo_days int check (embargo_days > 0),
  reason text,
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now()
);

-- The keys of the captures, see `url_key`: from `key_from` up to `key_to`, which is none of them.
create table archive_exclusion_keys (
  exclusion_id uuid not null references archive_exclusions on delete cascade,
  key_from text collate "C" not null,
  key_to text collate "C" not null,
  embargo interval,
  primary key (exclusion_id, key_from)
);
