-- What changed between captures of a page.

-- Pages whose captures have come or gone since they were compared: a row or more for each. A row that is being worked on waits
-- until its time; its page is done when it goes.
create table changes_due (
  id bigint primary key generated always as identity,
  page text not null,
  attempts smallint not null default 0,
  not_before timestamptz not null default now()
);
create index changes_due_next on changes_due (not_before, id);

-- Captures that were there before, or that are to be compared anew: up to `last_id`, page by page.
create table changes_backfill (
  id smallint primary key default 1 check (id = 1),
  next_id bigint not null,
  last_id bigint not null
);
insert into changes_backfill (next_id, last_id) select 0, coalesce(max(id), 0) from captures;

create function note_captures_changed() returns trigger language plpgsql as $$
begin
  insert into changes_due (page)
  select distinct page_of(final_url) from changed
  where warc_key is not null and reused_from is null and mime_type like '%html%';
  return null;
end $$;
create trigger captures_added after insert on captures
  referencing new table as changed for each statement execute function note_captures_changed();
create trigger captures_removed after delete on captures
  referencing old table as changed for each statement execute function note_captures_changed();

-- The original of a revisit has come.
create function note_original_found() returns trigger language plpgsql as $$
begin
  if new.warc_key is not null and new.reused_from is null and new.mime_type like '%html%' then
    insert into changes_due (page) values (page_of(new.final_url));
  end if;
  return null;
end $$;
create trigger captures_resolved after update of revisit_of on captures
  for each row when (old.revisit_of is distinct from new.revisit_of) execute function note_original_found();

-- One for each capture of a page: what it brought, compared with the good capture before it.
create table page_changes (
  -- of what it joins: see `changeId`
  id bigint primary key,
  kind text not null check (kind in ('new_page', 'updated', 'unchanged', 'error')),
  page text not null,
  host text not null,
  from_capture_id bigint references captures on delete cascade,
  to_capture_id bigint not null unique references captures on delete cascade,
  to_job_id uuid not null,
  to_at timestamptz not null,
  summary text not null,
  high_noise boolean not null,
  -- null where nothing was compared
  added_sections int,
  removed_sections int,
  changed_sections int,
  added_lines int,
  removed_lines int,
  change_ratio double precision,
  -- stretches of lines: see `Hunk`
  diff jsonb,
  diff_truncated boolean not null,
  -- of what normalises texts and compares them
  version smallint not null,
  computed_at timestamptz not null default now()
);
create index page_changes_from on page_changes (from_capture_id) where from_capture_id is not null;
create index page_changes_page on page_changes (hashtextextended(page, 0));
create index page_changes_newest on page_changes (to_at desc, id desc) where kind <> 'unchanged';
create index page_changes_host on page_changes (host, to_at desc, id desc);
create index page_changes_job on page_changes (to_job_id, host);
