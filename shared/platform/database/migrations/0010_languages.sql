-- Keyword search in all languages: the words of a text are found by the server, and stemmed by the dictionary of its language.

-- The analysis that made `fts`. 0: `chunk_fts`, in English; maintenance makes those anew, and until none is left queries are
-- also read as it does.
alter table chunks add column analysis smallint not null default 0;
create index chunks_outdated on chunks (id) where analysis = 0;

-- The languages that documents have had: a query is read in each of them.
create table document_languages (language text primary key);
insert into document_languages (language) select distinct language from documents;

-- How often a lexeme stands in a chunk, 0 to 256; of all that begin with it, where it asks for these.
create or replace function term_frequency(fts tsvector, lexeme tsquery) returns double precision
  language sql immutable parallel safe
  return round(1 / (1.64493406685 * (1 - least(ts_rank('{1, 1, 1, 1}', fts, lexeme)::double precision, 0.99763)) + 1e-9) - 0.5);
