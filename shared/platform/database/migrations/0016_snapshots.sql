-- Captures as snapshots of pages: found by the page that they are of, and by the URL that answered.

-- Scheme, host and path.
create function page_of(url text) returns text language sql immutable parallel safe
  return split_part(split_part(url, '#', 1), '?', 1);
create index captures_page on captures (hashtextextended(page_of(final_url), 0), fetched_at)
  where warc_key is not null and reused_from is null;
create index captures_final_url on captures (final_url_hash, fetched_at)
  where warc_key is not null and final_url_hash <> url_hash;

-- The archive's interface names jobs by numbers.
alter table jobs add column number bigint generated always as identity;
create unique index jobs_number on jobs (number);
