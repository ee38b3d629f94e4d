-- Keyword search: how a chunk is indexed, and what BM25 must know of the whole corpus.

-- A text whose words PostgreSQL's parser finds. It would keep "TCP/IP" as one file name and "fs.readFile" as one host name,
-- which a search for a part never finds; it would leave out "<String>" as a tag, "&lt;" as an entity, and whatever stands
-- behind "<script>"; and where the database's LC_CTYPE is C it takes every character beyond ASCII for a letter: quotation
-- marks, dashes, the no-break space, ideographic punctuation, arrows, emoji. All of these become spaces. 66 us for a chunk of
-- 2.7 KB, as much as translate() of three characters (measured).
create function search_text(words text) returns text
  language sql immutable strict parallel safe
  return regexp_replace(words,
    '[./\\<>&@'
    '\u00a0-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7'
    '\u037e\u0387\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965'
    '\u2000-\u200b\u200e-\u206f\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f'
    '\u3000-\u3004\u3008-\u3020\u3030\u30a0\u30fb\ufe30-\ufe4f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65'
    '\U0001f000-\U0001faff]',
    ' ', 'g');

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
