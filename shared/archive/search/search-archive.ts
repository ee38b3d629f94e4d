/** Searches the archive's snapshots: what matches is the same whatever the order, and is what is counted. */
import {
  inTransaction,
  isOutOfTime,
  limitStatements,
  type Sql,
  type Transaction,
} from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { areShown } from "../exclusions/is-shown.ts";
import { belongings, isSourceCode } from "../snapshots/snapshots.ts";
import { foldedText, holding } from "./folded-text.ts";
import { type ArchiveQuery, type Expression, parseArchiveQuery, type TextQuery } from "./query-language.ts";
import { anyOf, archiveAnalysers, type ReadPart, readParts } from "./read-query.ts";
import { similarWords } from "./similar-words.ts";

export interface ArchiveSearch {
  query: string;
  /** The code of a source, or a host. */
  source?: string | undefined;
  sort: "relevance" | "newest";
  view: "snapshots" | "pages";
  includeNon2xx: boolean;
  includeDuplicates: boolean;
  from?: Date | undefined;
  before?: Date | undefined;
  limit: number;
  offset: number;
  /** `v1`: by the text alone, without what other pages say. */
  ranking: "v1" | "v2";
}

/** How the query was read: `all_terms`, then `any_term`, then `fuzzy` where nothing was found. */
export type SearchMode = "browse" | "url" | "boolean" | "all_terms" | "any_term" | "fuzzy";

export interface Found {
  id: number;
  jobId: number;
  source: string;
  sourceName: string;
  url: string;
  /** Scheme, host and path. */
  page: string;
  title: string | null;
  snippet: string | null;
  language: string;
  capturedAt: Date;
  status: number;
  /** Of its page; null but where pages are listed. */
  pageSnapshots: number | null;
  inlinks: number;
  /** What it is ranked by; their sum is the score. */
  rankText: number;
  titleBoost: number;
  archivedPenalty: number;
  queryPenalty: number;
  trackingPenalty: number;
  depthPenalty: number;
  authorityBoost: number;
}

export interface ArchiveResults {
  mode: SearchMode;
  total: number;
  results: Found[];
}

const LONGEST_MS = 15_000;
/** Hits that are ranked by all of their text: whatever is worse by title, beginning and URL stays behind them. */
const MOST_READ = 2_000;
/** Hits whose links count: whatever is worse by its text stays behind them. */
const MOST_RANKED = 500;

export async function searchArchive(sql: Sql, search: ArchiveSearch): Promise<ArchiveResults> {
  try {
    return await inTransaction(sql, async (tx) => {
      await tx`set transaction isolation level repeatable read read only`;
      await limitStatements(tx, LONGEST_MS);
      return await searchWithin(tx, search);
    });
  } catch (error) {
    if (!isOutOfTime(error)) throw error;
    const message = `The search took longer than ${LONGEST_MS / 1000} s: ask for less, or for one source`;
    throw new ApiError(503, message, { code: "SEARCH_TIMEOUT", cause: error });
  }
}

type Condition = ReturnType<typeof nothing>;
const nothing = (tx: Transaction) => tx`true`;

interface Matching {
  mode: SearchMode;
  where: Condition;
  /** What texts are ranked by, in the syntax of `tsquery`; null: nothing. */
  rankedBy: string | null;
}

/** By weights D to A: text, URL, beginning, title; more for what stands close together, less for long texts. */
const WEIGHTS = "{0.1, 0.3, 0.5, 1}";

async function searchWithin(tx: Transaction, search: ArchiveSearch): Promise<ArchiveResults> {
  const query = parseArchiveQuery(search.query);
  let found: ArchiveResults | undefined;
  for await (const matching of readings(tx, query)) {
    found = await list(tx, search, matching);
    if (found.total > 0) return found;
  }
  return found ?? { mode: "browse", total: 0, results: [] };
}

/** What the query may mean, most strictly first: the first that finds something is it. */
async function* readings(tx: Transaction, query: ArchiveQuery): AsyncGenerator<Matching> {
  if (query.mode === "browse") return yield { mode: "browse", where: tx`true`, rankedBy: null };
  if (query.mode === "url") {
    const pages = pagesOf(query.url);
    const where = tx`s.page_hash in (select hashtextextended(page, 0) from unnest(${pages}::text[]) page)`;
    yield { mode: "url", where, rankedBy: null };
    if (!query.isCertain) yield* textReadings(tx, query.text);
    return;
  }
  if (query.mode === "boolean") return yield await booleanReading(tx, query.expression);
  yield* textReadings(tx, query);
}

/** A page by http and https, with and without `www.` and a final slash, its escapes in capitals or not. */
function pagesOf(url: string): string[] {
  const { host, pathname } = new URL(url);
  const hosts = host.startsWith("www.") ? [host, host.slice(4)] : [host, `www.${host}`];
  const bare = pathname.replace(/\/+$/, "");
  const spelt = [bare, escapesOf(bare, true), escapesOf(bare, false)];
  const paths = bare === "" ? ["/"] : [...new Set(spelt)].flatMap((each) => [each, `${each}/`]);
  return ["http", "https"].flatMap((scheme) =>
    hosts.flatMap((each) => paths.map((path) => `${scheme}://${each}${path}`)),
  );
}

/** `%c3` and `%C3` are one (RFC 3986, section 6.2.2.1), and servers link to either. */
const escapesOf = (path: string, inCapitals: boolean): string =>
  path.replace(/%[0-9a-f]{2}/gi, (each) => (inCapitals ? each.toUpperCase() : each.toLowerCase()));

async function* textReadings(tx: Transaction, { words, phrases }: TextQuery): AsyncGenerator<Matching> {
  const analysers = await archiveAnalysers(tx);
  const read = await readParts(tx, [...words, ...phrases], analysers);
  const strict = allOf(read);
  if (strict !== null) yield byWords(tx, "all_terms", strict);
  const corrected = await correctedParts(tx, words, analysers);
  const near = corrected === null ? null : allOf([...corrected, ...read.slice(words.length)]);
  if (near !== null && near !== strict) yield byWords(tx, "fuzzy", near);
  const lexemes = [...new Set(read.flatMap((part) => part.lexemes))];
  const any = lexemes.length === 0 ? null : anyOf(lexemes);
  if (any !== null && any !== strict) yield byWords(tx, "any_term", any);
  // of signs, of stop words alone, or of a part of a word
  // a star that stands for the rest of a word is what a part of it finds anyway
  const held = [...words, ...phrases].map((text) => text.replace(/\*+$/, "")).join(" ");
  yield { mode: "any_term", where: holdsText(tx, held), rankedBy: any };
  const either = (corrected ?? []).flatMap(({ query }) => query ?? []).join(" | ");
  if (either !== "") yield byWords(tx, "fuzzy", either);
}

const byWords = (tx: Transaction, mode: SearchMode, query: string): Matching => ({
  mode,
  where: tx`s.fts @@ ${query}::tsquery`,
  rankedBy: query,
});

/** @returns each word, or what it may stand for; null where there is nothing to correct */
async function correctedParts(
  tx: Transaction,
  words: readonly string[],
  analysers: Awaited<ReturnType<typeof archiveAnalysers>>,
): Promise<Pick<ReadPart, "query" | "isStopWord">[] | null> {
  const similar: string[][] = [];
  for (const word of words) similar.push(await similarWords(tx, word));
  if (similar.every((each) => each.length === 0)) return null;
  const parts: Pick<ReadPart, "query" | "isStopWord">[] = [];
  for (const [at, word] of words.entries()) {
    const read = await readParts(tx, [word, ...(similar[at] ?? [])], analysers);
    const queries = read.flatMap(({ query }) => query ?? []);
    parts.push({
      query: queries.length === 0 ? null : `(${queries.join(" | ")})`,
      isStopWord: read.every(({ isStopWord }) => isStopWord),
    });
  }
  return parts;
}

/** Stop words are required only where there is nothing else. */
function allOf(parts: readonly Pick<ReadPart, "query" | "isStopWord">[]): string | null {
  const asked = parts.filter(({ query }) => query !== null);
  const telling = asked.filter(({ isStopWord }) => !isStopWord);
  const required = telling.length > 0 ? telling : asked;
  return required.length === 0 ? null : required.map(({ query }) => query).join(" & ");
}

const holdsText = (tx: Transaction, text: string): Condition => {
  if (foldedText(text) === "") return tx`false`;
  const pattern = holding(text);
  return tx`(s.title_key like ${pattern} or s.snippet_key like ${pattern} or s.url_key like ${pattern})`;
};

async function booleanReading(tx: Transaction, expression: Expression): Promise<Matching> {
  const terms = termsOf(expression);
  const read = await readParts(
    tx,
    terms.map(({ text }) => text),
    await archiveAnalysers(tx),
  );
  const byTerm = new Map(terms.map((term, at) => [term, read[at]]));
  const conditionOf = (each: Expression): Condition => {
    if (each.kind === "not") return tx`not ${conditionOf(each.of)}`;
    if (each.kind === "term") return termCondition(tx, each, byTerm.get(each)?.query ?? null);
    const [first, ...rest] = each.of.map(conditionOf);
    const others = rest.map((other) => (each.kind === "and" ? tx`and ${other}` : tx`or ${other}`));
    return tx`(${first ?? tx`true`} ${others.length === 0 ? tx`` : others})`;
  };
  const lexemes = wanted(expression).flatMap((term) => byTerm.get(term)?.lexemes ?? []);
  const rankedBy = lexemes.length === 0 ? null : anyOf([...new Set(lexemes)]);
  return { mode: "boolean", where: conditionOf(expression), rankedBy };
}

type Term = Extract<Expression, { kind: "term" }>;

const termsOf = (expression: Expression): Term[] =>
  expression.kind === "term"
    ? [expression]
    : expression.kind === "not"
      ? termsOf(expression.of)
      : expression.of.flatMap(termsOf);

/** Those that a result is to have. */
const wanted = (expression: Expression): Term[] =>
  expression.kind === "term" ? [expression] : expression.kind === "not" ? [] : expression.of.flatMap(wanted);

function termCondition(tx: Transaction, { field, text }: Term, query: string | null): Condition {
  const pattern = holding(text);
  if (field === "title") return tx`s.title_key like ${pattern}`;
  if (field === "snippet") return tx`s.snippet_key like ${pattern}`;
  if (field === "url") return tx`s.url_key like ${pattern}`;
  const held = holdsText(tx, text);
  if (query === null) return held;
  // by themselves, so that an index finds them within NOT and OR, too
  return tx`s.capture_id in (
    select s.capture_id from snapshot_index s where s.fts @@ ${query}::tsquery
    union all select s.capture_id from snapshot_index s where ${held})`;
}

async function list(tx: Transaction, search: ArchiveSearch, matching: Matching): Promise<ArchiveResults> {
  const { view, sort, limit, offset, ranking } = search;
  const { rankedBy } = matching;
  // the planner takes `@@` for cheap, though it fetches a vector for each row that no index has found
  const scans = matching.mode === "browse" ? "on" : "off";
  await tx`select set_config('enable_seqscan', ${scans}, true)`;
  const byRelevance = sort === "relevance" && matching.mode !== "browse";
  const order = tx`quality, ${byRelevance ? tx`place is null, is_read desc, score desc,` : tx``} captured_at desc, id desc`;
  const textOf = (fts: Condition): Condition =>
    rankedBy === null ? tx`0::float8` : tx`ts_rank_cd(${WEIGHTS}, ${fts}, ${rankedBy}::tsquery, 1)::float8`;
  const headOf =
    rankedBy === null || !byRelevance
      ? tx`0::float8`
      : tx`ts_rank(${WEIGHTS}, s.head, ${rankedBy}::tsquery, 1)::float8`;
  // a page is its URL without a query, whichever capture stands for it
  const ofUrl = (is: Condition): Condition =>
    view === "pages" && ranking === "v2" ? tx`0::float8` : tx`case when ${is} then -0.1 else 0 end::float8`;
  const rows = await tx<(Omit<Found, "id"> & { count: number; id: number | null })[]>`
    with matched as (
      select s.capture_id as id, s.page_hash, s.captured_at, ${quality(tx)} as quality, ${headOf} as rank_head,
        ${titleBoost(tx, search.query)} as title_boost,
        case when s.is_archived then -0.3 else 0 end::float8 as archived_penalty,
        ${ofUrl(tx`s.has_query`)} as query_penalty, ${ofUrl(tx`s.has_tracking`)} as tracking_penalty,
        (-0.02 * least(s.depth, 8))::float8 as depth_penalty
      from snapshot_index s
      where ${matching.where} and ${admitted(tx, search)}),
    listed as materialized (
      select ${view === "pages" ? tx`distinct on (page_hash)` : tx``} *,
        title_boost + archived_penalty + query_penalty + tracking_penalty + depth_penalty as besides
      from matched ${view === "pages" ? tx`order by page_hash, quality, captured_at desc, id desc` : tx``}),
    nearest as materialized (
      select id as read_id from listed order by quality, rank_head + besides desc, captured_at desc, id desc
      limit ${byRelevance ? MOST_READ : 0}),
    read as materialized (
      select read_id, ${textOf(tx`r.fts`)} as rank_text from nearest join snapshot_index r on r.capture_id = read_id),
    rated as (
      select listed.*, read_id is not null as is_read, coalesce(rank_text, rank_head) as rank_text,
        coalesce(rank_text, rank_head) + besides as own
      from listed left join read on read_id = id),
    best as (
      select id as best_id, row_number() over (order by quality, is_read desc, own desc, captured_at desc, id desc) as place
      from rated order by place limit ${byRelevance ? MOST_RANKED : 0}),
    ranked as (
      select rated.*, best.place, coalesce(links.inlinks, 0) as inlinks, coalesce(links.boost, 0) as authority_boost,
        own + coalesce(links.boost, 0) as score
      from rated left join best on best_id = id left join lateral (
        select count(*) as inlinks, case when ${ranking === "v2"} then least(0.35, 0.05 * ln(1 + count(*))) else 0 end::float8 as boost
        from page_links where to_hash = rated.page_hash having best.place is not null) links on true),
    page as (
      select *, row_number() over (order by ${order}) as at from ranked order by ${order} limit ${limit} offset ${offset})
    select (select count(*) from listed) as count, page.id, ${belongings(tx)}, c.final_url as url, page_of(c.final_url) as page, i.title, i.snippet,
      i.language, i.captured_at as "capturedAt", i.status, inlinks,
      ${view === "pages" ? tx`(select count(*) from snapshot_index o where o.page_hash = i.page_hash and ${areShown(tx, tx`o.capture_id`)})` : tx`null::bigint`} as "pageSnapshots",
      ${byRelevance ? tx`rank_text` : textOf(tx`i.fts`)} as "rankText", title_boost as "titleBoost", archived_penalty as "archivedPenalty",
      query_penalty as "queryPenalty", tracking_penalty as "trackingPenalty", depth_penalty as "depthPenalty",
      authority_boost as "authorityBoost"
    from (select) always left join page on true left join snapshot_index i on i.capture_id = page.id
      left join captures c on c.id = page.id left join jobs j on j.id = c.job_id
    order by page.at`;
  const results = rows.flatMap(({ count: _, id, ...found }) => (id === null ? [] : [{ id, ...found }]));
  return { mode: matching.mode, total: rows[0]?.count ?? 0, results };
}

/** For a title that holds the query as it stands. */
function titleBoost(tx: Transaction, query: string): Condition {
  const text = query.replaceAll('"', " ");
  return foldedText(text) === ""
    ? tx`0::float8`
    : tx`case when s.title_key like ${holding(text)} then 0.5 else 0 end::float8`;
}

/** A code has no dot, and a host may have none either. */
const ofSource = (tx: Transaction, source: string): Condition =>
  isSourceCode(source) ? tx`(s.source_code = ${source} or s.host = ${source})` : tx`s.host = ${source}`;

/** Errors never stand before pages. */
const quality = (tx: Transaction): Condition => tx`
  case when s.status between 200 and 299 then 0 when s.status between 300 and 399 then 1 else 2 end`;

function admitted(tx: Transaction, search: ArchiveSearch): Condition {
  const { source, from, before, includeNon2xx, includeDuplicates } = search;
  return tx`${areShown(tx, tx`s.capture_id`)}
    and ${source === undefined ? tx`true` : ofSource(tx, source)}
    and ${from === undefined ? tx`true` : tx`s.captured_at >= ${from}`}
    and ${before === undefined ? tx`true` : tx`s.captured_at < ${before}`}
    and ${includeNon2xx ? tx`true` : tx`s.status between 200 and 299`}
    and ${
      includeDuplicates
        ? tx`true`
        : tx`not exists (select from snapshot_index l where l.same_answer = s.same_answer
          and (l.captured_at, l.capture_id) > (s.captured_at, s.capture_id))`
    }`;
}
