/**
 * Knows pages that say something else with each answer: how many visitors there were, a token, a number that is drawn.
 * Numbers alone are no sign, since rooms, draws and rates are told apart by nothing else. So where very many pages of a
 * host differ in nothing but words with digits, one of them is asked for again: the words that have changed by then are
 * no part of what such pages say.
 */
import { isDeepStrictEqual } from "node:util";
import type { Transaction } from "../../platform/database/database.ts";
import { rowsOf } from "../../platform/database/rows.ts";
import { shortKey } from "../frontier/counts.ts";

/** Pages of one shape after which one of them is asked for again. */
const PAGES_OF_A_SHAPE = 50;
/** Shapes of a host that are counted at a time, as Misra and Gries do it: a site without end has one that prevails. */
const COUNTED_SHAPES = 16;
/** Pages of a host that a job asks for again, at the most. */
const ASKED_PAGES = 8;
/** Of a text; what comes after them counts as one, and never as changed. */
const READ_WORDS = 2000;
const READ_TEXT = 20_000;
/** Of the words of a page. What changes more is another page each time. */
const MOST_CHANGED = 0.5;

const WORD = /\w+(?:[.,:+/=-]\w+)*|[^\s\w]+/g;
const DIGIT = /\d/;

/** What a job knows of the texts of a host. */
export interface KnownTexts {
  /** Pages of each shape; `last`: what the latest one said in its words with digits. */
  counted: { shape: string; pages: number; last: string }[];
  /** Pages that are asked for again, with a hash of each word of their first answer. */
  asked: { shape: string; urlHash: string; words: number[] }[];
  /** Which words of a text of so many change with each answer. */
  varying: { words: number; at: number[] }[];
  /** Shapes that were asked about. */
  settled: string[];
}

export interface SplitText {
  words: string[];
  rest: string;
}

export function splitText(text: string): SplitText {
  const read = text.slice(0, READ_TEXT).match(WORD) ?? [];
  const words = read.slice(0, READ_WORDS);
  return { words, rest: [...read.slice(READ_WORDS), text.slice(READ_TEXT)].join(" ") };
}

const nothingKnown = (): KnownTexts => ({ counted: [], asked: [], varying: [], settled: [] });

export interface ReadText {
  url: string;
  urlHash: string;
  /** Without what is known to pass. */
  text: SplitText;
  /** Whether the page may be asked for again. */
  mayAsk: boolean;
}

/**
 * Takes notice of a page.
 * @param known is changed
 * @returns a key in hex that pages share which say the same but for words that vary; null where the text is not known
 *   to vary; `ask` where the page is to be asked for again
 */
export function noticeText(known: KnownTexts, { url, urlHash, text, mayAsk }: ReadText): string | null | "ask" {
  answerAsked(known, urlHash, text.words);
  const varying = known.varying.find(({ words }) => words === text.words.length);
  if (varying !== undefined) {
    const changed = new Set(varying.at);
    return shortKey("varying", ...text.words.filter((_, at) => !changed.has(at)), text.rest);
  }
  const numbers = text.words.filter((word) => DIGIT.test(word) && !url.includes(word)).join(" ");
  if (numbers === "") return null;
  const shape = shortKey(text.words.map((word) => (DIGIT.test(word) ? "0" : word)).join(" "), text.rest);
  if (known.settled.includes(shape)) return null;
  if (!(mayAsk && isOneTooMany(known, shape, shortKey(numbers)))) return null;
  known.settled.push(shape);
  known.counted = known.counted.filter((each) => each.shape !== shape);
  known.asked.push({ shape, urlHash, words: text.words.map(hashOf) });
  return "ask";
}

function isOneTooMany({ counted, settled }: KnownTexts, shape: string, numbers: string): boolean {
  const one = counted.find((each) => each.shape === shape);
  if (one !== undefined) {
    if (one.last !== numbers) one.pages += 1;
    one.last = numbers;
    return one.pages > PAGES_OF_A_SHAPE && settled.length < ASKED_PAGES;
  }
  if (counted.length < COUNTED_SHAPES) {
    counted.push({ shape, pages: 1, last: numbers });
    return false;
  }
  for (const each of counted) each.pages -= 1;
  const left = counted.filter(({ pages }) => pages > 0);
  counted.splice(0, counted.length, ...left);
  return false;
}

/** Learns from the second answer which words change. */
function answerAsked(known: KnownTexts, urlHash: string, words: readonly string[]): void {
  const asked = known.asked.find((each) => each.urlHash === urlHash);
  if (asked === undefined) return;
  known.asked = known.asked.filter((each) => each !== asked);
  if (asked.words.length !== words.length) return;
  const at = words.flatMap((word, place) => (hashOf(word) === asked.words[place] ? [] : [place]));
  if (at.length > 0 && at.length <= words.length * MOST_CHANGED) known.varying.push({ words: words.length, at });
}

/** FNV-1a, 32 bits. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** What is known of the texts of hosts, and what was before. */
export type HostTexts = Map<string, { known: KnownTexts; before: string | null }>;

export async function readTexts(tx: Transaction, jobId: string, hosts: readonly string[]): Promise<HostTexts> {
  const texts: HostTexts = new Map(hosts.map((host) => [host, { known: nothingKnown(), before: null }]));
  for (const [host, known] of await storedTexts(tx, jobId, [...texts.keys()])) {
    texts.set(host, { known, before: JSON.stringify(known) });
  }
  return texts;
}

async function storedTexts(tx: Transaction, jobId: string, hosts: readonly string[]): Promise<Map<string, KnownTexts>> {
  if (hosts.length === 0) return new Map();
  const rows = await tx<{ host: string; known: KnownTexts }[]>`
    select host, known from crawl_texts where job_id = ${jobId} and host = any(${hosts}::text[])`;
  return new Map(rows.map(({ host, known }) => [host, known]));
}

/**
 * Keeps what was learnt. Of batches that are ingested at the same time one has counted in vain, which costs some pages;
 * what was asked and answered is kept of all. The caller holds the job's row.
 */
export async function keepTexts(tx: Transaction, jobId: string, texts: HostTexts): Promise<void> {
  const changed = [...texts].filter(([, { known, before }]) => JSON.stringify(known) !== (before ?? EMPTY));
  const stored = await storedTexts(
    tx,
    jobId,
    changed.map(([host]) => host),
  );
  const rows = changed.map(([host, { known, before }]) => {
    const meanwhile = stored.get(host);
    return { host, known: meanwhile === undefined ? known : joined(known, before, meanwhile) };
  });
  if (rows.length === 0) return;
  await tx`
    insert into crawl_texts (job_id, host, known)
    select ${jobId}, host, known from json_to_recordset(${rowsOf(rows)}::text::json) as r (host text, known jsonb)
    on conflict (job_id, host) do update set known = excluded.known`;
}

const EMPTY = JSON.stringify(nothingKnown());

function joined(known: KnownTexts, before: string | null, meanwhile: KnownTexts): KnownTexts {
  const { asked, varying, settled }: KnownTexts = before === null ? nothingKnown() : JSON.parse(before);
  const isNew = <Each>(each: Each, old: readonly Each[]) => !old.some((one) => isDeepStrictEqual(one, each));
  const answered = asked.filter((each) => isNew(each, known.asked));
  return {
    counted: known.counted.filter(({ shape }) => !meanwhile.settled.includes(shape)),
    asked: [
      ...meanwhile.asked.filter((each) => isNew(each, answered)),
      ...known.asked.filter((each) => isNew(each, asked) && isNew(each, meanwhile.asked)),
    ],
    varying: [
      ...meanwhile.varying,
      ...known.varying.filter((each) => isNew(each, varying) && isNew(each, meanwhile.varying)),
    ],
    settled: [...new Set([...meanwhile.settled, ...known.settled.filter((each) => isNew(each, settled))])],
  };
}
