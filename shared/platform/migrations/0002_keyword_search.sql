-- Keyword search: how a chunk is indexed, and what BM25 must know of the whole corpus.

-- The words of a chunk with those of its title and heading. Slashes and dots separate words: PostgreSQL's parser would keep
-- "TCP/IP" as one file name and "fs.readFile" as one host name, which a search for a part never finds. The replacement keeps
-- every character's place.
create function search_text(words text) returns text
  language sql immutable strict parallel safe
  return translate(words, './\', '   ');

create function chunk_fts(title text, section_header text, content text) returns tsvector
  language sql immutable parallel safe
  return to_tsvector('pg_catalog.english', search_text(
    coalesce(title, '') || E'\n' || coalesce(section_header, '') || E'\n' || coalesce(content, '')));

-- How often a lexeme stands in a chunk, 0 to 256. `ts_rank` of a single lexeme with equal weights is H(tf) / zeta(2) with
-- H(n) = 1 + 1/4 + ... + 1/n^2, and zeta(2) - H(n) is about 1 / (n + 1/2): so the count is read back from it, at 2 us instead
-- of the 70 us that unnesting the tsvector takes (measured).
create function term_frequency(fts tsvector, lexeme tsquery) returns double precision
  language sql immutable parallel safe
  return round(1 / (1.64493406685 * (1 - ts_rank('{1, 1, 1, 1}', fts, lexeme)::double precision) + 1e-9) - 0.5);

-- A chunk of 512 tokens fits a page with its tsvector. Kept in the row, it costs neither a compression when it is written nor
-- a second look-up, 30 us for each of a thousand candidates, when it is ranked.
alter table chunks set (toast_tuple_target = 8160);

-- One row, written by the refresh; no row: never refreshed.
create table corpus_statistics (
  only_row boolean primary key default true check (only_row),
  chunks bigint not null,
  average_tokens double precision not null,
  refreshed_at timestamptz not null default now()
);

-- In how many chunks a lexeme stands, estimated from a sample; lexemes too rare for the sample are counted when asked for.
create table lexeme_statistics (
  lexeme text primary key,
  chunks bigint not null
);
