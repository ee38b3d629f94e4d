/** The mementos of a URL: its captures, as HTTP clients ask for those of a time (RFC 7089). */
import { normalizeUrl, urlHash } from "../../crawl/urls/normalize-url.ts";
import { urlKey } from "../../crawl/urls/surt.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { isShown } from "../exclusions/is-shown.ts";
import { isPublic } from "../snapshots/snapshots.ts";

export interface Memento {
  id: number;
  /** The URL that answered. */
  url: string;
  time: Date;
}

/** Which captures count as those of a URL. */
export interface MementoSet {
  /** As it was asked for, normalised. */
  original: string;
  where: ReturnType<Queryable>;
}

/**
 * Those of the very URL, by http or https; where there are none, those that only its key takes for the same (another
 * order of parameters, case, session ids); where there are none either, those of what it redirected to.
 * @param url absolute
 * @returns undefined where there is no capture at all
 */
export async function findMementos(sql: Queryable, url: string): Promise<MementoSet | undefined> {
  const parsed = new URL(url);
  parsed.hash = "";
  const original = parsed.href;
  const same = ["http:", "https:"].map((scheme) => original.replace(/^https?:/, scheme));
  const isRead = sql`warc_key is not null and reused_from is null and ${isPublic(sql)} and ${isShown(sql)}`;
  const ofKey: ReturnType<Queryable> = sql`url_key = ${urlKey(original)} and ${isRead}`;
  const hash = Buffer.from(urlHash(normalizeUrl(original)), "hex");
  const wheres: ReturnType<Queryable>[] = [
    sql`${ofKey} and final_url = any(${same})`,
    ofKey,
    sql`url_hash = ${hash} and ${isRead}`,
  ];
  for (const where of wheres) {
    const [found] = await sql`select from captures c where ${where} limit 1`;
    if (found !== undefined) return { original, where };
  }
  return undefined;
}

async function one(sql: Queryable, where: ReturnType<Queryable>, order: "asc" | "desc"): Promise<Memento | undefined> {
  const direction = order === "asc" ? sql`fetched_at, id` : sql`fetched_at desc, id desc`;
  const [found] = await sql<Memento[]>`
    select id, final_url as url, fetched_at as time from captures c where ${where} order by ${direction} limit 1`;
  return found;
}

export interface Neighbours {
  memento: Memento;
  first: Memento;
  last: Memento;
  previous: Memento | undefined;
  next: Memento | undefined;
}

/** The memento nearest to a time, the earlier of two; the newest where no time is given; and those around it. */
export async function nearestMemento(sql: Queryable, { where }: MementoSet, at: Date | null): Promise<Neighbours> {
  const first = (await one(sql, where, "asc")) as Memento;
  const last = (await one(sql, where, "desc")) as Memento;
  const memento = at === null ? last : await nearest(sql, where, at, last);
  return { memento, first, last, ...(await beside(sql, where, memento)) };
}

/** What is around a memento of the set; undefined where the set has it not. */
export async function aroundMemento(
  sql: Queryable,
  { where }: MementoSet,
  memento: Memento,
): Promise<Neighbours | undefined> {
  const [first, last, neighbours] = await Promise.all([
    one(sql, where, "asc"),
    one(sql, where, "desc"),
    beside(sql, where, memento),
  ]);
  return first && last && { memento, first, last, ...neighbours };
}

/** A memento is named by its second: others of the same one are not its neighbours. */
async function beside(
  sql: Queryable,
  where: ReturnType<Queryable>,
  { time }: Memento,
): Promise<Pick<Neighbours, "previous" | "next">> {
  const second = new Date(secondOf(time) * 1000);
  const after = new Date(second.getTime() + 1000);
  const [previous, next] = await Promise.all([
    one(sql, sql`${where} and fetched_at < ${second}`, "desc"),
    one(sql, sql`${where} and fetched_at >= ${after}`, "asc"),
  ]);
  return { previous, next };
}

async function nearest(sql: Queryable, where: ReturnType<Queryable>, at: Date, last: Memento): Promise<Memento> {
  const [before, behind] = await Promise.all([
    one(sql, sql`${where} and fetched_at <= ${at}`, "desc"),
    one(sql, sql`${where} and fetched_at > ${at}`, "asc"),
  ]);
  if (before === undefined || behind === undefined) return before ?? behind ?? last;
  return Math.abs(secondOf(at) - secondOf(before.time)) <= Math.abs(secondOf(behind.time) - secondOf(at))
    ? before
    : behind;
}

/** A memento is named by it. */
const secondOf = (time: Date): number => Math.floor(time.getTime() / 1000);

const PAGE = 1_000;

/** Oldest first, one for each second. */
export async function* listMementos(
  sql: Queryable,
  { where }: MementoSet,
  signal: AbortSignal,
): AsyncGenerator<Memento> {
  let after: Memento | undefined;
  let second = Number.NaN;
  for (;;) {
    signal.throwIfAborted();
    const beyond = after === undefined ? sql`` : sql`and (fetched_at, id) > (${after.time}, ${after.id}::bigint)`;
    const rows: Memento[] = await sql<Memento[]>`
      select id, final_url as url, fetched_at as time from captures c where ${where} ${beyond} order by fetched_at, id limit ${PAGE}`;
    for (const memento of rows) {
      after = memento;
      const its = secondOf(memento.time);
      if (its !== second) yield memento;
      second = its;
    }
    if (rows.length < PAGE) return;
  }
}
