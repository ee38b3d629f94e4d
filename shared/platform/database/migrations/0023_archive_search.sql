-- Search over the snapshots of the archive: every capture of a page, whatever became of its document.

-- Snapshots that are not indexed yet. One that is being worked on waits until its time.
create table snapshots_due (
  capture_id bigint primary key references captures on delete cascade,
  attempts smallint not null default 0,
  not_before timestamptz not null default now()
);
create index snapshots_due_next on snapshots_due (not_before, capture_id);
insert into snapshots_due (capture_id)
  select id from captures where warc_key is not null and reused_from is null and mime_type like '%html%';

create function note_snapshots() returns trigger language plpgsql as $$
begin
  insert into snapshots_due (capture_id)
  select id from added where warc_key is not null and reused_from is null and mime_type like '%html%';
  return null;
end $$;
create trigger snapshots_added after insert on captures
  referencing new table as added for each statement execute function note_snapshots();

create table snapshot_index (
  capture_id bigint primary key references captures on delete cascade,
  page_hash bigint not null,
  host text not null,
  captured_at timestamptz not null,
  status int not null,
  title text,
  snippet text,
  language text not null,
  -- what substrings are looked for in: small letters without marks
  title_key text not null,
  snippet_key text not null,
  url_key text not null,
  fts tsvector not null,
  -- of one URL, one day in UTC, the same bytes
  same_answer bytea not null,
  depth smallint not null,
  has_query boolean not null,
  has_tracking boolean not null,
  is_archived boolean not null
);
create index snapshot_index_fts on snapshot_index using gin (fts);
create index snapshot_index_page on snapshot_index (page_hash, captured_at desc, capture_id desc);
create index snapshot_index_newest on snapshot_index (captured_at desc, capture_id desc);
create index snapshot_index_host on snapshot_index (host, captured_at desc, capture_id desc);
create index snapshot_index_same on snapshot_index (same_answer, captured_at desc, capture_id desc);

-- Which page links to which, by their hashes; and how many link to one.
create table page_links (
  from_hash bigint not null,
  to_hash bigint not null,
  primary key (from_hash, to_hash)
);
create index page_links_to on page_links (to_hash);

-- The languages that snapshots have had: a query is read in each of them.
create table archive_languages (language text primary key);

-- The words of titles and snippets, for queries that are misspelt.
create table archive_words (word text primary key);
do $$
begin
  create extension if not exists pg_trgm;
  create index archive_words_similar on archive_words using gin (word gin_trgm_ops);
exception when others then
  raise notice 'pg_trgm is not there: misspelt words are compared with all words';
end $$;
