-- When the list of a source last named an entry, so that entries which it names no more are forgotten one day.

-- within a day
alter table crawl_source_entries add column last_listed_at timestamptz not null default now();

alter table crawl_source_lists
  -- when it was read as it is: what it named was listed then
  add column read_at timestamptz not null default now(),
  -- since when no run has found it; null: the latest one did
  add column gone_at timestamptz;
