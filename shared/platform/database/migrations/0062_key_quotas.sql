-- Quotas of API keys: pages that the jobs of each may fetch in a day, and bytes that it may store; and what it has used.

-- null: as many as it likes
alter table api_keys
  add column pages_per_day int check (pages_per_day > 0),
  add column max_stored_bytes bigint check (max_stored_bytes > 0);

-- Apart from `key_usage`, whose row is locked while a job begins: pages are counted while that waits for others.
create table key_work (
  api_key_id uuid not null references api_keys on delete cascade,
  -- in UTC
  day date not null,
  -- URLs that were asked for, each once
  pages int not null default 0,
  -- what came over the network
  fetched_bytes bigint not null default 0,
  documents int not null default 0,
  -- what was stored on this day, less what was freed on it
  stored_bytes bigint not null default 0,
  primary key (api_key_id, day)
);

-- What a key has used of its quotas: pages of the day with those that its jobs may still make of what is under way, and bytes.
-- Keeps all others who ask for the key waiting until the transaction ends.
create function used_quotas(key_id uuid, out pages_used int, out bytes_stored bigint) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('quotas of ' || key_id::text, 0));
  -- a statement of its own: it sees what those who held the lock before have committed
  select coalesce((
      select w.pages from key_work w
      where w.api_key_id = key_id and w.day = (clock_timestamp() at time zone 'UTC')::date), 0)
    + coalesce((
      select sum(
        (select count(*) from frontier f where f.job_id = j.id and f.state = 'claimed')
        + (select count(*) from frontier f where f.job_id = j.id and f.state = 'pending' and f.attempt > 0))
      from jobs j where j.api_key_id = key_id and j.status in ('pending', 'running', 'embedding')), 0),
    coalesce((select sum(w.stored_bytes) from key_work w where w.api_key_id = key_id), 0)
  into pages_used, bytes_stored;
end $$;

-- Of an upload: whose it is, and what it holds, which is free again when the row goes.
alter table documents
  add column uploaded_by uuid,
  add column upload_bytes int;

alter table jobs drop constraint jobs_stop_reason_check;
alter table jobs add constraint jobs_stop_reason_check check (stop_reason in
  ('completed', 'max_pages', 'max_depth', 'timeout', 'budget_exhausted', 'quota_exceeded', 'manual_stop', 'error'));
