/** Runs as rows. Raw and processed rows are written once, with their run, and never change. */
import type { Queryable, Sql } from "../platform/database/database.ts";
import { inTransaction } from "../platform/database/database.ts";
import { rowsOf, storableJson } from "../platform/database/rows.ts";
import { sha256 } from "../platform/ids.ts";
import type { MergedUrl } from "./merge.ts";
import { checkNeutralQuery, type NeutralQuery } from "./query-schema.ts";

export interface Template {
  /** With its placeholders. */
  query: NeutralQuery;
  /** The same as one line of text. */
  text: string;
}

export interface TemplateKey {
  originalQuery: string;
  promptHash: string;
  model: string;
}

/** @throws InvalidQuery where a row holds what the schema does not take any more */
export async function findTemplate(sql: Queryable, key: TemplateKey): Promise<Template | undefined> {
  const [row] = await sql<{ query: unknown; text: string }[]>`
    select query, rewritten_template as text from queries
    where original_hash = ${sha256(key.originalQuery)} and prompt_hash = ${key.promptHash} and model = ${key.model}`;
  return row && { query: checkNeutralQuery(row.query), text: row.text };
}

/**
 * Two runs of one question at once: the first template stays, and both go by it.
 * @param replace writes over the one that is there
 * @returns the one that is kept
 */
export async function keepTemplate(
  sql: Queryable,
  key: TemplateKey,
  { query, text }: Template,
  replace: boolean,
): Promise<Template> {
  const [row] = await sql<{ query: unknown; text: string }[]>`
    insert into queries as held (original_query, original_hash, prompt_hash, model, rewritten_template, query)
    values (${key.originalQuery}, ${sha256(key.originalQuery)}, ${key.promptHash}, ${key.model}, ${text},
      ${JSON.stringify(query)}::text::jsonb)
    on conflict (original_hash, prompt_hash, model) do update set
      rewritten_template = case when ${replace} then excluded.rewritten_template else held.rewritten_template end,
      query = case when ${replace} then excluded.query else held.query end
    returning query, rewritten_template as text`;
  return row === undefined ? { query, text } : { query: checkNeutralQuery(row.query), text: row.text };
}

export interface NewRun {
  query: string;
  rewrittenTemplate: string;
  config: Record<string, unknown>;
  providersUsed: string[];
  apiKeyId: string | null;
  requestId?: string | undefined;
  raw: { provider: string; url: string; rank: number; meta: Record<string, unknown> }[];
  processed: readonly MergedUrl[];
}

/** @returns its id; that of the run with the same `requestId` where there is one, which stays as it is */
export async function insertRun(sql: Sql, run: NewRun): Promise<number> {
  return await inTransaction(sql, async (tx) => {
    const [row] = await tx<{ id: number }[]>`
      insert into search_runs (query, rewritten_template, config, providers_used, api_key_id, request_id)
      values (${run.query}, ${run.rewrittenTemplate}, ${storableJson(run.config)}::text::jsonb, ${run.providersUsed},
        ${run.apiKeyId}, ${run.requestId ?? null})
      on conflict (request_id) do nothing
      returning id`;
    if (row === undefined) return await idOfRequest(tx, run.requestId);
    const { id } = row;
    await tx`
      insert into search_results_raw (run_id, provider, url, rank, meta)
      select ${id}, provider, url, rank, meta
      from json_to_recordset(${rowsOf(run.raw)}::text::json) as r (provider text, url text, rank int, meta jsonb)`;
    const processed = run.processed.map(({ url, providers, confidence, dedupeHash }) => ({
      url,
      providers,
      confidence,
      hash: dedupeHash,
    }));
    await tx`
      insert into search_results_processed (run_id, url, providers, confidence, dedupe_hash)
      select ${id}, url, array(select json_array_elements_text(providers)), confidence, hash
      from json_to_recordset(${rowsOf(processed)}::text::json) as r (url text, providers json, confidence int, hash text)`;
    return id;
  });
}

async function idOfRequest(tx: Queryable, requestId: string | undefined): Promise<number> {
  const [made] = await tx<{ id: number }[]>`select id from search_runs where request_id = ${requestId ?? null}`;
  if (made === undefined) throw new Error("A search run was neither made nor there");
  return made.id;
}

/** A run with what else its request was answered. */
export interface MadeRun extends StoredRun {
  final_queries: Record<string, string>;
  /** What each did; `urls` is how many it found. */
  providers: { provider: string; urls: number; latencyMs: number; error: string | null }[];
  template_cached: boolean;
}

/** The run that a request has made before. */
export async function readMadeRun(sql: Queryable, requestId: string): Promise<MadeRun | undefined> {
  const [row] = await sql<MadeRun[]>`
    select ${columns(sql)}, config -> 'final_queries' as final_queries, config -> 'providers' as providers,
      (config -> 'llm' -> 'cached')::boolean as template_cached
    from search_runs where request_id = ${requestId}`;
  return row;
}

export interface StoredRun {
  run_id: number;
  query: string;
  rewritten_template: string;
  timestamp: Date;
  providers_used: string[];
}

export interface ProcessedUrl {
  url: string;
  providers: string[];
  confidence: number;
}

export async function readRun(sql: Queryable, id: number): Promise<StoredRun | undefined> {
  const [row] = await sql<StoredRun[]>`select ${columns(sql)} from search_runs where id = ${id}`;
  return row;
}

/** In the order of the merge. */
export async function readProcessed(sql: Queryable, runId: number): Promise<ProcessedUrl[]> {
  return await sql<ProcessedUrl[]>`
    select url, providers, confidence from search_results_processed where run_id = ${runId} order by id`;
}

export interface RunFilter {
  query?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  limit: number;
  /** Id of the last run seen. */
  after?: number | undefined;
}

/** Newest first. */
export async function listRuns(sql: Queryable, { query, from, to, limit, after }: RunFilter): Promise<StoredRun[]> {
  return await sql<StoredRun[]>`
    select ${columns(sql)} from search_runs
    where ${query === undefined ? sql`true` : sql`query = ${query}`}
      and ${from === undefined ? sql`true` : sql`run_timestamp >= ${from}`}
      and ${to === undefined ? sql`true` : sql`run_timestamp <= ${to}`}
      and ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
}

function columns(sql: Queryable) {
  return sql`id as run_id, query, rewritten_template, run_timestamp as timestamp, providers_used`;
}
