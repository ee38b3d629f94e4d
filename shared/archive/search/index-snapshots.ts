/**
 * Makes snapshots searchable, away from those who crawl: by what ingest has stored of each, or else by what is read
 * back from the archive.
 */

import { keywordVectors } from "../../knowledge/analysis/keyword-vectors.ts";
import { inTransaction, type Sql, type Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { sha256 } from "../../platform/ids.ts";
import type { Logger } from "../../platform/observability/log.ts";
import { shorten, storable } from "../../platform/text.ts";
import { readPageText } from "../changes/page-text.ts";
import type { Archive } from "../replay/payload.ts";
import { type PageText, storedTexts } from "../snapshots/stored-text.ts";
import { foldedText } from "./folded-text.ts";

export interface IndexDependencies {
  sql: Sql;
  objects: Archive["objects"];
  log: Logger;
}

export interface Indexed {
  snapshots: number;
  /** They are tried again later: why is in the log. */
  failed: number;
}

/** Snapshots that are taken at once. */
const AT_ONCE = 100;
/** Of those that are read from the archive, so many are written together: their pages may be large. */
const READ_AT_ONCE = 20;
const LEASE_S = 360;
/** Times that a snapshot is begun before it is indexed by its title and URL alone. */
const MOST_ATTEMPTS = 4;
const SNIPPET_CHARACTERS = 280;
/** Of the main text: what stands further below seldom tells what a page is about. */
const INDEXED_CHARACTERS = 20_000;
const LONGEST_TITLE = 1_000;
const LONGEST_URL = 2_000;
const MOST_LINKS = 1_000;

interface DueSnapshot {
  id: number;
  attempts: number;
  url: string;
  page: string;
  host: string;
  capturedAt: Date;
  status: number;
  title: string | null;
  language: string | null;
  digest: string | null;
  isRendered: boolean;
}

interface IndexRow {
  due: DueSnapshot;
  title: string | null;
  text: string;
  language: string;
  links: readonly string[];
}

export async function indexSnapshots(dependencies: IndexDependencies, hasTime: () => boolean): Promise<Indexed> {
  const indexed: Indexed = { snapshots: 0, failed: 0 };
  const { sql } = dependencies;
  while (hasTime()) {
    const due = await takeDue(sql);
    if (due.length === 0) break;
    const stored = await storedTexts(
      sql,
      due.map(({ id }) => id),
      INDEXED_CHARACTERS,
    );
    const known: IndexRow[] = [];
    const unknown: DueSnapshot[] = [];
    for (const each of due) {
      const text = each.attempts > MOST_ATTEMPTS ? undefined : stored.get(each.id);
      if (text === undefined) unknown.push(each);
      else known.push(rowOf(each, text));
    }
    await write(dependencies, known, indexed);
    for (let at = 0; at < unknown.length; at += READ_AT_ONCE) {
      await readAndWrite(dependencies, unknown.slice(at, at + READ_AT_ONCE), hasTime, indexed);
    }
  }
  return indexed;
}

async function readAndWrite(
  dependencies: IndexDependencies,
  due: readonly DueSnapshot[],
  hasTime: () => boolean,
  indexed: Indexed,
): Promise<void> {
  const rows: IndexRow[] = [];
  const left: number[] = [];
  for (const each of due) {
    try {
      if (hasTime()) rows.push(await readSnapshot(dependencies, each));
      else left.push(each.id);
    } catch (error) {
      indexed.failed++;
      dependencies.log.error("a snapshot could not be read: it is tried again later", { error, capture_id: each.id });
    }
  }
  await write(dependencies, rows, indexed);
  if (left.length > 0) await putBack(dependencies.sql, left);
}

async function write({ sql }: IndexDependencies, rows: readonly IndexRow[], indexed: Indexed): Promise<void> {
  if (rows.length > 0) await inTransaction(sql, (tx) => writeRows(tx, rows));
  indexed.snapshots += rows.length;
}

const putBack = async (sql: Sql, ids: readonly number[]): Promise<void> => {
  await sql`
    update snapshots_due set attempts = attempts - 1, not_before = now() where capture_id = any(${ids as number[]}::bigint[])`;
};

async function takeDue(sql: Sql): Promise<DueSnapshot[]> {
  return await sql<DueSnapshot[]>`
    with taken as (
      update snapshots_due set attempts = attempts + 1,
        not_before = now() + ${LEASE_S} * power(2, least(attempts, 5)) * interval '1 second'
      where capture_id in (
        select capture_id from snapshots_due where not_before <= now() order by not_before, capture_id limit ${AT_ONCE}
        for update skip locked)
      returning capture_id, attempts)
    select c.id, taken.attempts, c.final_url as url, page_of(c.final_url) as page,
      split_part(split_part(c.final_url, '/', 3), '@', -1) as host, c.fetched_at as "capturedAt", c.status_code as status,
      c.title, c.language, c.payload_digest as digest,
      coalesce(jsonb_typeof(c.rendered->'warc') = 'object', false) as "isRendered"
    from taken join captures c on c.id = taken.capture_id order by c.id`;
}

async function readSnapshot(dependencies: IndexDependencies, due: DueSnapshot): Promise<IndexRow> {
  const { id, url, attempts, isRendered, title, language } = due;
  const known = { due, title, text: "", language: language ?? "und", links: [] };
  if (attempts > MOST_ATTEMPTS) {
    dependencies.log.warn("a snapshot is indexed without its text", { capture_id: id });
    return known;
  }
  const found = await readPageText(dependencies, { id, url }, isRendered);
  return "problem" in found ? known : rowOf(due, found);
}

const rowOf = (due: DueSnapshot, { title, text, language, links }: PageText): IndexRow => ({
  due,
  title: title ?? due.title,
  text,
  language,
  links: links.slice(0, MOST_LINKS),
});

const TRACKING = /[?&](?:utm_[a-z]+|fbclid|gclid|msclkid|mc_[ce]id|igshid|yclid|_hs\w+)=/i;
const ARCHIVED = /^\W*(?:archived|archivée?|archiviert|archivado|archiviato)\b/iu;

async function writeRows(tx: Transaction, rows: readonly IndexRow[]): Promise<void> {
  const texts = rows.flatMap(({ due, title, text, language }) =>
    [
      storable(title ?? "").slice(0, LONGEST_TITLE),
      snippetOf(text),
      text.slice(0, INDEXED_CHARACTERS).toWellFormed(),
      urlWords(due.url),
    ].map((part) => ({ text: storable(part), language })),
  );
  const vectors = await keywordVectors(tx, texts, { stops: true });
  const values = rows.map(({ due, title, text, language }, at) => {
    const [a, b, d, c] = vectors.slice(4 * at, 4 * at + 4);
    const path = due.page
      .split("/")
      .slice(3)
      .filter((part) => part !== "");
    const snippet = snippetOf(text);
    return {
      id: due.id,
      page: due.page,
      host: due.host,
      captured_at: due.capturedAt,
      status: due.status,
      title: title === null ? null : shorten(title, LONGEST_TITLE),
      snippet: snippet === "" ? null : snippet,
      language,
      title_key: foldedText((title ?? "").slice(0, LONGEST_TITLE)),
      snippet_key: foldedText(snippet),
      url_key: foldedText(shownUrl(due.url)),
      a,
      b,
      c,
      d,
      same: sha256(`${due.url}\n${due.capturedAt.toISOString().slice(0, 10)}\n${due.digest ?? due.id}`).toString("hex"),
      depth: Math.min(path.length, 1_000),
      has_query: due.url.includes("?"),
      has_tracking: TRACKING.test(due.url),
      is_archived: ARCHIVED.test(title ?? "") || ARCHIVED.test(snippet),
    };
  });
  await tx`
    insert into snapshot_index (capture_id, page_hash, host, captured_at, status, title, snippet, language, title_key, snippet_key,
      url_key, fts, same_answer, depth, has_query, has_tracking, is_archived)
    select c.id, hashtextextended(page, 0), host, captured_at, status, r.title, snippet, r.language, title_key, snippet_key, r.url_key,
      setweight(a::tsvector, 'A') || setweight(b::tsvector, 'B') || setweight(r.c::tsvector, 'C') || setweight(d::tsvector, 'D'),
      decode(same, 'hex'), r.depth, has_query, has_tracking, is_archived
    from json_to_recordset(${rowsOf(values)}::text::json) as r (id bigint, page text, host text, captured_at timestamptz, status int,
      title text, snippet text, language text, title_key text, snippet_key text, url_key text, a text, b text, c text, d text,
      same text, depth smallint, has_query boolean, has_tracking boolean, is_archived boolean)
    join captures c on c.id = r.id
    on conflict (capture_id) do update set title = excluded.title, snippet = excluded.snippet, language = excluded.language,
      title_key = excluded.title_key, snippet_key = excluded.snippet_key, fts = excluded.fts, is_archived = excluded.is_archived`;
  await tx`
    insert into archive_languages (language)
    select language from unnest(${[...new Set(rows.map(({ language }) => language))].sort()}::text[]) language
    on conflict do nothing`;
  await writeLinks(tx, rows);
  const words = new Set(values.flatMap(({ title_key, snippet_key }) => wordsOf(`${title_key} ${snippet_key}`)));
  await tx`
    insert into archive_words (word) select word from unnest(${[...words].sort()}::text[]) word on conflict do nothing`;
  await tx`delete from snapshots_due where capture_id = any(${rows.map(({ due }) => due.id)}::bigint[])`;
}

/** Of good pages. Where a page's capture is indexed anew, its links stay. */
async function writeLinks(tx: Transaction, rows: readonly IndexRow[]): Promise<void> {
  const links = rows.flatMap(({ due, links: to }) =>
    due.status < 200 || due.status > 299 ? [] : to.map((url) => ({ from: due.page, to: storable(url) })),
  );
  if (links.length === 0) return;
  await tx`
    insert into page_links (from_hash, to_hash)
    select distinct hashtextextended("from", 0) as from_hash, hashtextextended(page_of("to"), 0) as to_hash
    from json_to_recordset(${rowsOf(links)}::text::json) as r ("from" text, "to" text)
    where "from" <> page_of("to")
    order by 2, 1 on conflict do nothing`;
}

function snippetOf(text: string): string {
  return shorten(
    text
      .slice(0, 4 * SNIPPET_CHARACTERS)
      .replace(/\s+/g, " ")
      .trim(),
    SNIPPET_CHARACTERS,
  );
}

function shownUrl(url: string): string {
  const short = url.slice(0, LONGEST_URL);
  try {
    return storable(decodeURI(short));
  } catch {
    return storable(short);
  }
}

/** Host and path as words. */
const urlWords = (url: string): string =>
  shownUrl(url)
    .replace(/^https?:\/\//, "")
    .replace(/[/?&=_.+-]+/g, " ");

/** As they may be misspelt: long enough, and letters alone. */
const wordsOf = (key: string): string[] => key.match(/\p{L}[\p{L}\p{M}]{3,39}/gu) ?? [];
