-- The order in which archives list captures: by `urlKey` of the URL that answered. Null in rows that were there before, until
-- `fillUrlKeys` has come to them.
alter table captures add column url_key text collate "C";
create index captures_url_key on captures (url_key, fetched_at, id)
  where url_key is not null and warc_key is not null and reused_from is null;
create index captures_without_key on captures (id) where url_key is null and warc_key is not null and reused_from is null;
