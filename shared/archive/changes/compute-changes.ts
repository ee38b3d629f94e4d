/**
 * Computes what changed between captures of a page, for the pages that are due: in steps that each stand for
 * themselves, so that whoever is stopped goes on where he was.
 */
import { tellPagesChanged } from "../../notify/webhooks/outbox.ts";
import { inTransaction, type Queryable, type Sql, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { Archive } from "../replay/payload.ts";
import { isOfPage, isSnapshot } from "../snapshots/snapshots.ts";
import { type Change, compareCaptures, faultChange } from "./compare-captures.ts";
import { CHANGES_VERSION } from "./compare-lines.ts";
import { type Link, linkCaptures, type PageCapture } from "./link-captures.ts";

export interface ChangesDependencies {
  sql: Sql;
  objects: Archive["objects"];
  log: Logger;
}

export interface Computed {
  pages: number;
  changes: number;
  /** Pages that are tried again later: why is in the log. */
  failed: number;
}

/** Pages that are taken at once. */
const AT_ONCE = 100;
/** Captures whose pages become due at once. */
const BACKFILL_CAPTURES = 5_000;
/** Events that are written at once: their texts are not computed again. */
const WRITTEN_AT_ONCE = 20;
/** Comparisons of a page that fail before it is put off. */
const MOST_FAULTS = 3;
/** Seconds after which a page whose worker was lost is taken again, doubled at each try. */
const LEASE_S = 360;
/** Times that a page is begun before each comparison that fails counts as impossible, and is written at once. */
const MOST_ATTEMPTS = 6;
/** Times, of those that follow, that a function may end within a comparison without a word. */
const MOST_ENDS = 3;

/** @param hasTime asked before each page and each comparison */
export async function computeChanges(dependencies: ChangesDependencies, hasTime: () => boolean): Promise<Computed> {
  const computed: Computed = { pages: 0, changes: 0, failed: 0 };
  while (hasTime()) {
    const due = await takeDuePages(dependencies.sql);
    if (due.length === 0 && !(await fillDuePages(dependencies.sql))) break;
    for (const each of await writeFirstCaptures(dependencies, due, computed)) {
      if (hasTime()) await computeOf(dependencies, each, hasTime, computed);
      else await putBack(dependencies.sql, each);
    }
  }
  return computed;
}

interface DuePage {
  page: string;
  /** The rows that stand for it. */
  ids: number[];
  attempts: number;
}

async function takeDuePages(sql: Sql): Promise<DuePage[]> {
  return await sql<DuePage[]>`
    with next as (
      select page from changes_due where not_before <= now() order by not_before, id limit ${AT_ONCE}),
    taken as (
      update changes_due d set attempts = attempts + 1,
        not_before = now() + ${LEASE_S} * power(2, least(attempts, 5)) * interval '1 second'
      where d.page in (select page from next) and d.not_before <= now()
      returning d.page, d.id, d.attempts)
    select page, array_agg(id) as ids, max(attempts) as attempts from taken group by page order by min(id)`;
}

/** @returns whether there were any */
async function fillDuePages(sql: Sql): Promise<boolean> {
  return await inTransaction(sql, async (tx) => {
    const [range] = await tx<{ after: number; last: number }[]>`
      select next_id as after, last_id as last from changes_backfill where next_id < last_id for update`;
    if (range === undefined) return false;
    const [end] = await tx<{ id: number | null }[]>`
      select max(id) as id from (
        select id from captures where id > ${range.after} and id <= ${range.last} order by id limit ${BACKFILL_CAPTURES})`;
    const until = end?.id ?? range.last;
    await tx`
      insert into changes_due (page)
      select distinct page_of(c.final_url) from captures c
      where c.id > ${range.after} and c.id <= ${until} and ${isSnapshot(tx)}`;
    await tx`update changes_backfill set next_id = ${until}`;
    return true;
  });
}

/** Has all pages compared again: events whose captures are the same stay as they are. */
export async function compareAllAgain(sql: Sql): Promise<void> {
  await sql`
    insert into changes_backfill (next_id, last_id) select 0, coalesce(max(id), 0) from captures
    on conflict (id) do update set next_id = 0, last_id = excluded.last_id`;
}

const putBack = async (sql: Sql, { ids }: DuePage): Promise<void> => {
  await sql`update changes_due set attempts = attempts - 1, not_before = now() where id = any(${ids})`;
};

/**
 * Writes pages of which there is one capture and no event, together, since nothing is compared: after a first crawl
 * nearly all are such.
 * @returns the other pages
 */
async function writeFirstCaptures(
  { sql, objects, log }: ChangesDependencies,
  due: readonly DuePage[],
  computed: Computed,
): Promise<readonly DuePage[]> {
  if (due.length < 2) return due;
  try {
    const written = await inTransaction(sql, async (tx) => {
      const firsts = await lockFirstCaptures(
        tx,
        due.map(({ page }) => page),
      );
      const found: FoundChange[] = [];
      for (const { page, link } of firsts) {
        found.push({ page, link, change: await compareCaptures({ sql, objects }, null, link.to) });
      }
      await insertChanges(tx, found);
      const pages = new Set(found.map(({ page }) => page));
      const ids = due.filter(({ page }) => pages.has(page)).flatMap((each) => each.ids);
      await tx`delete from changes_due where id = any(${ids})`;
      return pages;
    });
    computed.changes += written.size;
    computed.pages += written.size;
    return due.filter(({ page }) => !written.has(page));
  } catch (error) {
    log.warn("new pages could not be written together: each is tried for itself", { error });
    return due;
  }
}

/** Locks the pages, and reads those of which there is one capture, and no event that it could be mistaken for. */
async function lockFirstCaptures(tx: Transaction, pages: readonly string[]): Promise<{ page: string; link: Link }[]> {
  await tx`
    select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(page, 0) as key from unnest(${pages as string[]}::text[]) page order by key) keys`;
  const captures = await tx<(PageCapture & { page: string })[]>`
    select p.page, one.* from unnest(${pages as string[]}::text[]) p (page)
    cross join lateral (
      select few.*, count(*) over () as count from (
        select ${captureFields(tx)} from captures c
        where ${isOfPage(tx, tx`p.page`)} and ${isSnapshot(tx)} limit 2) few) one
    where one.count = 1
      and not exists (
        select from page_changes known
        where hashtextextended(known.page, 0) = hashtextextended(p.page, 0) and known.page = p.page)
      and not exists (select from page_changes known where known.to_capture_id = one.id)`;
  const firsts = captures.flatMap(({ page, ...capture }) =>
    linkCaptures(page, [capture]).map((link) => ({ page, link })),
  );
  const ids = firsts.map(({ link }) => link.id);
  const taken = await tx<{ id: number }[]>`select id from page_changes where id = any(${ids})`;
  const unfit = new Set([...taken.map(({ id }) => id), ...ids.filter((id, at) => ids.indexOf(id) !== at)]);
  return firsts.filter(({ link }) => !unfit.has(link.id));
}

async function computeOf(
  dependencies: ChangesDependencies,
  due: DuePage,
  hasTime: () => boolean,
  computed: Computed,
): Promise<void> {
  const { sql, log } = dependencies;
  try {
    const { changes, isDone, failed } = await comparePage(dependencies, due, hasTime);
    computed.changes += changes;
    if (failed !== undefined) throw failed.error;
    if (!isDone) return await putBack(sql, due);
    await sql`delete from changes_due where id = any(${due.ids})`;
    computed.pages++;
  } catch (error) {
    computed.failed++;
    log.error("the changes of a page could not be computed: it is tried again later", {
      error,
      attempts: due.attempts,
    });
  }
}

interface FoundChange {
  page: string;
  link: Link;
  change: Change;
}

interface KnownChange {
  id: number;
  from: number | null;
  to: number;
  version: number;
}

async function comparePage(
  { sql, objects, log }: ChangesDependencies,
  { page, ids, attempts }: DuePage,
  hasTime: () => boolean,
): Promise<{ changes: number; isDone: boolean; failed?: { error: unknown } | undefined }> {
  const { links, known } = await readPage(sql, page);
  const missing = links.filter((link) => !known.some((each) => isOf(each, link)));
  const gone = known.filter(({ id }) => !links.some((link) => link.id === id)).map(({ id }) => id);
  const compared = async ({ from, to }: Link): Promise<Change> => await compareCaptures({ sql, objects }, from, to);
  let changes = 0;
  let faults = 0;
  let found: FoundChange[] = [];
  const write = async (): Promise<boolean> => {
    const isWritten = await writeChanges(sql, page, links, { found, gone });
    if (isWritten) changes += found.length;
    found = [];
    return isWritten;
  };
  const isLast = attempts > MOST_ATTEMPTS;
  let failed: { error: unknown } | undefined;
  for (const [index, link] of missing.entries()) {
    if (!hasTime()) {
      await write();
      return { changes, isDone: false, failed };
    }
    // those before it are written: it is this one at which functions have ended
    const isEnd = index === 0 && attempts > MOST_ATTEMPTS + MOST_ENDS;
    const change = isEnd ? IMPOSSIBLE : await compared(link).catch((error: unknown) => ({ error }));
    if ("error" in change && !isLast) {
      // the others do not wait for it, but a bucket that does not answer is asked no more
      failed ??= change;
      if (++faults === MOST_FAULTS) break;
      continue;
    }
    const error = "error" in change ? change.error : undefined;
    if (isEnd || "error" in change) log.warn("captures could not be compared", { capture_id: link.to.id, error });
    found.push({ page, link, change: "error" in change ? IMPOSSIBLE : change });
    if (found.length < (isLast ? 1 : WRITTEN_AT_ONCE)) continue;
    if (!(await write())) return { changes, isDone: false, failed };
    if (isLast) await sql`update changes_due set attempts = ${MOST_ATTEMPTS + 1} where id = any(${ids})`;
  }
  const isDone = await write();
  return { changes, isDone, failed };
}

const IMPOSSIBLE = faultChange(`It could not be compared, though it was tried ${MOST_ATTEMPTS} times`);

const isOf = (known: KnownChange, { id, from, to }: Link): boolean =>
  known.id === id && known.from === (from?.id ?? null) && known.to === to.id && known.version === CHANGES_VERSION;

/** Of the capture `c`. */
const captureFields = (sql: Queryable) => sql`
  c.id, c.fetched_at as "capturedAt", c.final_url as url, c.status_code as status, c.warc_record_id as "recordId",
  c.payload_digest as "payloadDigest", c.charset, c.truncated,
  coalesce(jsonb_typeof(c.rendered->'warc') = 'object', false) as "isRendered"`;

async function readPage(sql: Queryable, page: string): Promise<{ links: Link[]; known: KnownChange[] }> {
  const captures = await sql<PageCapture[]>`
    select ${captureFields(sql)} from captures c where ${isOfPage(sql, page)} and ${isSnapshot(sql)}`;
  const known = await sql<KnownChange[]>`
    select id, from_capture_id as "from", to_capture_id as "to", version from page_changes
    where hashtextextended(page, 0) = hashtextextended(${page}::text, 0) and page = ${page}`;
  const links = linkCaptures(page, captures);
  const taken = await sql<{ id: number }[]>`
    select id from page_changes where id = any(${links.map(({ id }) => id)}) and page <> ${page}`;
  if (taken.length === 0) return { links, known };
  return {
    links: linkCaptures(
      page,
      captures,
      taken.map(({ id }) => id),
    ),
    known,
  };
}

/**
 * Events that stand for no captures any more go first.
 * @returns false where captures have come or gone meanwhile: nothing is written, and the page is to be begun anew
 */
async function writeChanges(
  sql: Sql,
  page: string,
  links: readonly Link[],
  { found, gone }: { found: readonly FoundChange[]; gone: readonly number[] },
): Promise<boolean> {
  return await inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${page}::text, 0))`;
    const now = await readPage(tx, page);
    const isSame =
      now.links.length === links.length &&
      now.links.every(({ id, to }, at) => id === links[at]?.id && to.id === links[at]?.to.id);
    if (!isSame) return false;
    const stale = [...gone, ...found.map(({ link }) => link.id)];
    await tx`
      delete from page_changes where id = any(${stale}) and page = ${page}
        or to_capture_id = any(${found.map(({ link }) => link.to.id)})`;
    await insertChanges(tx, found);
    return true;
  });
}

async function insertChanges(tx: Transaction, found: readonly FoundChange[]): Promise<void> {
  if (found.length === 0) return;
  await tx`
    insert into page_changes (id, kind, page, host, from_capture_id, to_capture_id, to_job_id, to_at, summary, high_noise,
      added_sections, removed_sections, changed_sections, added_lines, removed_lines, change_ratio, diff, diff_truncated, version)
    select r.id, kind, page, split_part(split_part(page, '/', 3), '@', -1), from_id, to_id, c.job_id, c.fetched_at,
      summary, high_noise, added_sections, removed_sections, changed_sections, added_lines, removed_lines, change_ratio, diff,
      diff_truncated, r.version
    from json_to_recordset(${rowsOf(found.map(rowOf))}::text::json) as r (id bigint, kind text, page text, from_id bigint,
      to_id bigint, summary text, high_noise boolean, added_sections int, removed_sections int, changed_sections int,
      added_lines int, removed_lines int, change_ratio float8, diff jsonb, diff_truncated boolean, version smallint)
    join captures c on c.id = r.to_id`;
  const updated = found.filter(({ change }) => change.kind === "updated").map(({ link }) => link.to.id);
  if (updated.length > 0) await tellPagesChanged(tx, updated);
}

function rowOf({ page, link, change }: FoundChange): object {
  const { kind, summary, highNoise, difference, version } = change;
  return {
    id: link.id,
    kind,
    page,
    from_id: link.from?.id ?? null,
    to_id: link.to.id,
    summary,
    high_noise: highNoise,
    added_sections: difference?.addedSections ?? null,
    removed_sections: difference?.removedSections ?? null,
    changed_sections: difference?.changedSections ?? null,
    added_lines: difference?.addedLines ?? null,
    removed_lines: difference?.removedLines ?? null,
    change_ratio: difference?.changeRatio ?? null,
    diff: kind === "updated" ? (difference?.hunks ?? null) : null,
    diff_truncated: difference?.isCut ?? false,
    version,
  };
}
