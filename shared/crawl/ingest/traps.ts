/**
 * Notices sites without end in the course of a crawl, and keeps it out of them. A link that a rule refuses is not
 * followed; the first few of each kind are kept as skipped with their code, so that it shows what was left out, and the
 * others are not written down, so that a trap does not fill the database.
 */
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { addToCounts, type CountKey, readCounts, shortKey } from "../frontier/counts.ts";
import type { NewUrl } from "../frontier/frontier.ts";
import { addCounts, type JobRow } from "../jobs/lifecycle.ts";
import { hostOf } from "../urls/normalize-url.ts";
import { dateTemplate, queryShape, undatedText, urlTrap } from "../urls/trap-patterns.ts";

export type TrapCode = "TRAP_PATH" | "TRAP_QUERY" | "TRAP_CALENDAR";

/** Sets of parameter names of one path: a filter that may be set in any combination has thousands. */
const QUERY_SHAPES = 50;
/** Queries of one path with the same parameter names. Those of few parameters name things: `index.php?id=4711`. */
const QUERY_VARIANTS = [
  { parameters: 2, limit: 10_000 },
  { parameters: 4, limit: 2_000 },
  { parameters: Number.POSITIVE_INFINITY, limit: 500 },
];
/** Pages of one template that say the same but for their dates. */
const SAME_TEXT = 50;
/** Refused links of one kind that a job keeps. */
const KEPT_REFUSALS = 20;

/** Behind every place that a strategy gives. */
const LAST = 9e15;

interface Filtered {
  admitted: NewUrl[];
  refused: { url: NewUrl; code: TrapCode }[];
}

/** Parts what may be followed from what leads into a trap, and counts the queries that are admitted. */
export async function filterTraps(tx: Transaction, job: JobRow, found: readonly NewUrl[]): Promise<Filtered> {
  const filtered: Filtered = { admitted: [], refused: [] };
  const parsed = found.map((url) => ({ url, parsed: new URL(url.url) }));
  const closed = await closedTemplates(tx, job.id, parsed);
  const queries = parsed.filter(({ parsed }) => parsed.search !== "");
  const exhausted = await exhaustedQueries(tx, job.id, queries);
  for (const { url, parsed: each } of parsed) {
    const code = urlTrap(each) ?? closed.get(url.urlHash) ?? exhausted.get(url.urlHash) ?? null;
    if (code === null) filtered.admitted.push(url);
    else filtered.refused.push({ url, code });
  }
  return filtered;
}

type Parsed = { url: NewUrl; parsed: URL };

async function closedTemplates(
  tx: Transaction,
  jobId: string,
  found: readonly Parsed[],
): Promise<Map<string, TrapCode>> {
  const dated = found.flatMap(({ url, parsed }) => {
    const template = dateTemplate(parsed);
    return template === null ? [] : [{ hash: url.urlHash, key: shortKey(template) }];
  });
  const keys = [...new Set(dated.map(({ key }) => key))];
  const counts = await readCounts(
    tx,
    jobId,
    keys.map((key) => ({ kind: "calendar", key })),
  );
  const closed = new Set(keys.filter((_, at) => (counts[at] ?? 0) > 0));
  return new Map(dated.filter(({ key }) => closed.has(key)).map(({ hash }) => [hash, "TRAP_CALENDAR"]));
}

/** Of the queries that the job does not know yet, those that are too many; the others are counted. */
async function exhaustedQueries(
  tx: Transaction,
  jobId: string,
  found: readonly Parsed[],
): Promise<Map<string, TrapCode>> {
  const refused = new Map<string, TrapCode>();
  const fresh = await unknownOf(
    tx,
    jobId,
    found.filter(({ parsed }) => urlTrap(parsed) === null),
  );
  if (fresh.length === 0) return refused;
  const shaped = fresh.flatMap(({ url, parsed }) => {
    const shape = queryShape(parsed);
    if (shape === null) return [];
    const { path, names, parameters } = shape;
    return [{ url, parameters, variants: shortKey(path, names), shapes: shortKey(path) }];
  });
  const keys: CountKey[] = [
    ...[...new Set(shaped.map(({ variants }) => variants))].map((key) => ({ kind: "query_variants" as const, key })),
    ...[...new Set(shaped.map(({ shapes }) => shapes))].map((key) => ({ kind: "query_shapes" as const, key })),
  ];
  const before = await readCounts(tx, jobId, keys);
  const counts = new Map(keys.map(({ kind, key }, at) => [`${kind} ${key}`, before[at] ?? 0]));
  for (const { url, parameters, variants, shapes } of shaped) {
    const [ofShape, ofPath] = [
      counts.get(`query_variants ${variants}`) ?? 0,
      counts.get(`query_shapes ${shapes}`) ?? 0,
    ];
    const limit = QUERY_VARIANTS.find((each) => parameters <= each.parameters)?.limit ?? 0;
    if (ofShape >= limit || (ofShape === 0 && ofPath >= QUERY_SHAPES)) {
      refused.set(url.urlHash, "TRAP_QUERY");
      continue;
    }
    if (ofShape === 0) counts.set(`query_shapes ${shapes}`, ofPath + 1);
    counts.set(`query_variants ${variants}`, ofShape + 1);
  }
  const added = keys.map(({ kind, key }, at) => ({
    kind,
    key,
    by: (counts.get(`${kind} ${key}`) ?? 0) - (before[at] ?? 0),
  }));
  await addToCounts(
    tx,
    jobId,
    added.filter(({ by }) => by > 0),
  );
  return refused;
}

async function unknownOf(tx: Transaction, jobId: string, found: readonly Parsed[]): Promise<Parsed[]> {
  if (found.length === 0) return [];
  const known = await tx<{ hash: string }[]>`
    select h as hash from unnest(${found.map(({ url }) => url.urlHash)}::text[]) h
    where exists (select from frontier where job_id = ${jobId} and url_hash = decode(h, 'hex'))`;
  const hashes = new Set(known.map(({ hash }) => hash));
  return found.filter(({ url }) => !hashes.has(url.urlHash));
}

/** Keeps the first refused links of each kind as skipped. The caller holds the job's row. */
export async function keepRefusals(tx: Transaction, job: JobRow, refused: Filtered["refused"]): Promise<void> {
  if (refused.length === 0) return;
  const codes = [...new Set(refused.map(({ code }) => code))];
  const kept = await readCounts(
    tx,
    job.id,
    codes.map((key) => ({ kind: "refused", key })),
  );
  const rows = codes.flatMap((code, at) =>
    refused.filter((each) => each.code === code).slice(0, Math.max(0, KEPT_REFUSALS - (kept[at] ?? 0))),
  );
  if (rows.length === 0) return;
  const values = rows.map(({ url, code }) => ({
    hash: url.urlHash,
    url: url.url,
    host: hostOf(url.url),
    depth: url.depth,
    from: url.discoveredFrom,
    code,
  }));
  const added = await tx<{ code: string }[]>`
    insert into frontier (job_id, url_hash, url, host, depth, priority, discovered_from, state, error_code)
    select ${job.id}, decode(hash, 'hex'), url, host, depth, ${LAST}, "from", 'skipped', code
    from json_to_recordset(${rowsOf(values)}::text::json)
      as r (hash text, url text, host text, depth int, "from" text, code text)
    on conflict do nothing
    returning error_code as code`;
  if (added.length === 0) return;
  await addCounts(tx, job, { discovered: added.length, skipped: added.length });
  const byCode = [...Map.groupBy(added, ({ code }) => code)];
  await addToCounts(
    tx,
    job.id,
    byCode.map(([key, some]) => ({ kind: "refused", key, by: some.length })),
  );
}

/** A page that was crawled. */
export interface DatedPage {
  /** After redirects. */
  url: string;
  text: string;
  language: string;
}

/**
 * Looks for calendars among the pages: where a template has more than `SAME_TEXT` pages that say the same but for their
 * dates, its links are followed no more. A dated archive, each of whose pages has a text of its own, never gets there.
 */
export async function trackCalendars(tx: Transaction, job: JobRow, pages: readonly DatedPage[]): Promise<void> {
  const seen = new Map<string, { template: string; by: number }>();
  for (const { url, text, language } of pages) {
    const template = dateTemplate(new URL(url));
    if (template === null) continue;
    const key = shortKey(template, undatedText(text, language));
    seen.set(key, { template: shortKey(template), by: (seen.get(key)?.by ?? 0) + 1 });
  }
  if (seen.size === 0) return;
  const counts = await addToCounts(
    tx,
    job.id,
    [...seen].map(([key, { by }]) => ({ kind: "same_text", key, by })),
  );
  const over = [...seen.values()].filter((_, at) => (counts[at] ?? 0) > SAME_TEXT).map(({ template }) => template);
  await addToCounts(
    tx,
    job.id,
    [...new Set(over)].map((key) => ({ kind: "calendar", key, by: 1 })),
  );
}
