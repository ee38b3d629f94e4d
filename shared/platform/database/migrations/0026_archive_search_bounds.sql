-- What archive search asks of thousands of rows lies in them, and substrings are found by an index.

-- Some 12 KB of a page of 1,900 words, which compression makes no smaller. Measured: trying was half of what the row cost.
do $$
begin
  if (select 'lz4' = any(enumvals) from pg_settings where name = 'default_toast_compression') then
    alter table snapshot_index alter fts set compression lz4;
  else
    alter table snapshot_index alter fts set storage external;
  end if;
end $$;

-- Title, beginning and URL of `fts`, which stay in the row when `fts` does not: thousands of hits are ranked by them.
alter table snapshot_index set (toast_tuple_target = 4080);
alter table snapshot_index add column head tsvector not null generated always as (ts_filter(fts, '{a,b,c}'::"char"[])) stored;

do $$
begin
  create extension if not exists pg_trgm;
  create index snapshot_index_title_key on snapshot_index using gin (title_key gin_trgm_ops);
  create index snapshot_index_snippet_key on snapshot_index using gin (snippet_key gin_trgm_ops);
  create index snapshot_index_url_key on snapshot_index using gin (url_key gin_trgm_ops);
exception when others then
  raise notice 'pg_trgm is not there: substrings of titles, beginnings and URLs are looked for in all of them';
end $$;
