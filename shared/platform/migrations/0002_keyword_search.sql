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
