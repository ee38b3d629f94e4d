-- WARC objects: what is known of each, and where the records of those lie that were copied into another one.
create table warc_files (
  key text primary key,
  bytes bigint not null,
  etag text not null,
  -- when the object was put
  written_at timestamptz not null,
  -- hex, of the bytes when they were last read to their end
  sha256 text,
  records int,
  -- what was wrong with it then
  faults int,
  verified_at timestamptz,
  -- its bytes are those of this file, from this place on: captures are to point there
  merged_into text,
  merged_offset bigint,
  merged_at timestamptz,
  -- since when no capture is known to point at it
  unused_since timestamptz,
  -- its object goes: no capture may point at it any more
  removed_at timestamptz,
  deleted_at timestamptz
);
create index warc_files_merged on warc_files (merged_into, merged_offset) where merged_into is not null;
create index warc_files_leaving on warc_files (key) where removed_at is not null and deleted_at is null;

-- Whatever points at a file is found by its key; `captures_warc` has all others.
create index captures_warc_reused on captures (warc_key) where reused_from is not null;
create index captures_warc_dom on captures ((rendered->'warc'->>'key')) where rendered->'warc'->>'key' is not null;

create function captures_in(file text) returns bigint language sql stable as $$
  select (select count(*) from captures where warc_key = file and reused_from is null)
    + (select count(*) from captures where warc_key = file and reused_from is not null)
    + (select count(*) from captures where rendered->'warc'->>'key' = file)
$$;

-- Held shared by whoever writes captures that point at a file, and alone by whoever moves them away or removes the file.
create function warc_lock(file text) returns bigint language sql immutable as
  $$ select hashtextextended(file, 20) $$;

-- A capture that was read or made before its file was copied into another one is stored with its place in that; none is
-- stored whose file has been removed.
create function follow_warc_files() returns trigger language plpgsql as $$
declare
  files text[];
  gone text;
begin
  select array_agg(file order by file) into files from (
    select warc_key as file from added where warc_key is not null
    union select rendered->'warc'->>'key' from added where rendered->'warc'->>'key' is not null) pointed;
  while files is not null loop
    perform pg_advisory_xact_lock_shared(warc_lock(file)) from unnest(files) file;
    select key into gone from warc_files where key = any (files) and removed_at is not null and merged_into is null limit 1;
    if gone is not null then
      raise exception 'the WARC file % was removed, since no capture had pointed at it for long', gone
        using errcode = 'restrict_violation';
    end if;
    select array_agg(distinct merged_into order by merged_into) into files
    from (select merged_into from warc_files where key = any (files) and merged_into is not null) merged;
    if files is not null then
      update captures c set warc_key = f.merged_into, warc_offset = c.warc_offset + f.merged_offset from warc_files f
      where c.id in (select id from added) and f.key = c.warc_key and f.merged_into is not null;
      update captures c set rendered = jsonb_set(c.rendered, '{warc}', c.rendered->'warc' || jsonb_build_object(
          'key', f.merged_into, 'offset', (c.rendered->'warc'->>'offset')::bigint + f.merged_offset))
      from warc_files f
      where c.id in (select id from added) and f.key = c.rendered->'warc'->>'key' and f.merged_into is not null;
    end if;
  end loop;
  return null;
end $$;
create trigger captures_follow_warc_files after insert on captures
  referencing new table as added for each statement execute function follow_warc_files();

-- Work on them, in slices. A row stands for the work until it has ended.
create table warc_runs (
  id uuid primary key,
  kind text not null check (kind in ('verify', 'consolidate', 'clean')),
  -- level, key, dry_run
  options jsonb not null default '{}',
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  error text,
  -- 0 to 2: the bucket and the captures are looked through for files; 3: the files are worked on
  phase smallint not null default 0,
  -- the key behind which the next slice begins
  after_key text not null default '',
  counts jsonb not null default '{}',
  faults int not null default 0,
  -- slices that were begun since the last one that came to something
  attempts int not null default 0,
  lease_until timestamptz,
  api_key_id uuid references api_keys on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);
create index warc_runs_open on warc_runs (updated_at) where status in ('pending', 'running');
create index warc_runs_kind on warc_runs (kind, created_at);

create table warc_faults (
  run_id uuid not null references warc_runs on delete cascade,
  seq int not null,
  key text not null,
  code text not null,
  message text not null,
  -- null: of the file as a whole
  byte_offset bigint,
  primary key (run_id, seq)
);
