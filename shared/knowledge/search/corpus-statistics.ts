/**
 * What BM25 must know of the corpus: how many chunks there are, how long they are, and in how many a lexeme stands. It
 * need not be exact, so it comes from a sample of bounded size and is refreshed when the corpus has grown or shrunk
 * noticeably.
 */
import type { Queryable, Sql } from "../../platform/database/database.ts";
import { noteSearchChange } from "./search-version.ts";

export interface CorpusStatistics {
  chunks: number;
  /** Mean length of a chunk, in tokens. */
  averageTokens: number;
  /** Whether they are those of a refresh. */
  refreshed: boolean;
}

/** `ts_stat` takes 0.08 ms a chunk (measured), so a refresh takes 2 s at most. */
const SAMPLE_CHUNKS = 20_000;
/**
 * A lexeme seen less often in a sample says too little; it is counted when a query asks for it, which is quick as it is
 * rare.
 */
const LEAST_SEEN_IN_SAMPLE = 4;
/** Up to this many chunks a refresh right after an activation is cheap (0.4 s). */
const SMALL_CORPUS_CHUNKS = 5_000;
const NOTICEABLE_CHANGE = 0.1;
/** Any constant: two refreshes at once are one too many. */
const ADVISORY_LOCK = 7_263_483;
/** What `token_count` averages to with a chunker that aims at 512; used until the first refresh. */
const AVERAGE_TOKENS_GUESS = 300;

/**
 * Estimates the statistics anew.
 * @returns false where another refresh is under way
 */
export async function refreshCorpusStatistics(sql: Sql): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const [lock] = await tx<{ locked: boolean }[]>`select pg_try_advisory_xact_lock(${ADVISORY_LOCK}) as locked`;
    if (!lock?.locked) return false;
    const [corpus] = await tx<{ chunks: number; tokens: number }[]>`
      select count(*) as chunks, coalesce(avg(token_count), 0)::float8 as tokens
      from chunks_serving c join documents_active d on d.id = c.document_id`;
    const chunks = corpus?.chunks ?? 0;
    const share = Math.min(1, SAMPLE_CHUNKS / Math.max(1, chunks));
    await tx`delete from lexeme_statistics`;
    await tx`
      insert into lexeme_statistics (lexeme, chunks)
      select word, round(ndoc / ${share}::float8) from ts_stat(${sampleQuery(share)})
      where ${share}::float8 = 1 or ndoc >= ${LEAST_SEEN_IN_SAMPLE}`;
    await tx`
      insert into corpus_statistics (chunks, average_tokens) values (${chunks}, ${corpus?.tokens ?? 0})
      on conflict (only_row) do update
        set chunks = excluded.chunks, average_tokens = excluded.average_tokens, refreshed_at = now()`;
    await noteSearchChange(tx);
    return true;
  });
}

/**
 * `ts_stat` takes its query as text; `share` is a number of ours. Pages are sampled, so that the rest is not even read.
 */
function sampleQuery(share: number): string {
  const sample = share === 1 ? "" : `tablesample system (${100 * share})`;
  return `select c.fts from chunks c ${sample} join documents_active d on d.id = c.document_id
    where c.chunk_set = (select id from chunk_sets where state = 'serving')`;
}

/** Refreshes where the corpus has changed by a tenth since the last time. For a schedule. */
export async function refreshIfStale(sql: Sql): Promise<boolean> {
  const [corpus] = await sql<{ chunks: number }[]>`
    select count(*) as chunks from chunks_serving c join documents_active d on d.id = c.document_id`;
  return (await isStale(sql, corpus?.chunks ?? 0)) && (await refreshCorpusStatistics(sql));
}

/** What lets the first searches after an activation be quick, and rank well. */
export async function prepareForSearches(sql: Sql): Promise<void> {
  await settleKeywordIndex(sql);
  await refreshIfSmall(sql);
}

/**
 * Moves what was indexed since the last time into the index itself. Until then each search reads it row by row: 1.1 ms
 * for what a crawl of 1,300 pages left there (measured).
 * @returns pages of the index that it was read from
 */
export async function settleKeywordIndex(sql: Sql): Promise<number> {
  const [row] = await sql<{ pages: number }[]>`select gin_clean_pending_list('chunks_fts') as pages`;
  return row?.pages ?? 0;
}

/** Where it costs little. */
async function refreshIfSmall(sql: Sql): Promise<boolean> {
  const [corpus] = await sql<{ chunks: number }[]>`
    select count(*) as chunks from (
      select 1 from chunks_serving c join documents_active d on d.id = c.document_id limit ${SMALL_CORPUS_CHUNKS + 1}) few`;
  const chunks = corpus?.chunks ?? 0;
  return chunks <= SMALL_CORPUS_CHUNKS && (await isStale(sql, chunks)) && (await refreshCorpusStatistics(sql));
}

async function isStale(sql: Sql, chunks: number): Promise<boolean> {
  const [known] = await sql<{ chunks: number }[]>`select chunks from corpus_statistics`;
  return known === undefined || Math.abs(chunks - known.chunks) > NOTICEABLE_CHANGE * known.chunks;
}

/** The statistics of the last refresh; before the first, what the planner believes. */
export async function readCorpusStatistics(sql: Queryable): Promise<CorpusStatistics> {
  const [row] = await sql<{ chunks: number; tokens: number | null }[]>`
    select coalesce(s.chunks, greatest(c.reltuples, 0)::bigint) as chunks, s.average_tokens as tokens
    from pg_class c left join corpus_statistics s on true where c.oid = 'chunks'::regclass`;
  const { chunks = 0, tokens = null } = row ?? {};
  return {
    chunks: Math.max(1, chunks),
    averageTokens: tokens || AVERAGE_TOKENS_GUESS,
    refreshed: tokens !== null,
  };
}
