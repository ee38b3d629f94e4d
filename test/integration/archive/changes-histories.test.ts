/** Random histories of pages, and the events that follow from what each capture says, whatever came when. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { callApi } from "../../services/api.ts";
import { encodeAs } from "../../sites/legacy-encoding.ts";
import { type ArchiveSetup, archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";

const CAPTURES = 34;
const HTML = "Content-Type: text/html; charset=utf-8\r\n";

/** A reproducible source of numbers below `below`. */
function dice(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return (state >>> 4) % below;
  };
}

/** What a page says: lines by the heading above them. */
type Content = Map<string, string[]>;

interface Planned {
  status: number;
  content: Content;
  body: Buffer;
  headers: string;
  url: string;
}

const TOPICS = ["Dosage", "Warnings", "Fièvre", "Storage", "Children", "Travel", "Sources", "Opening hours"];
const sentence = (topic: string, n: number): string =>
  `The clinic says of ${topic.toLowerCase()} that rule ${n} holds for everybody who was asked about it à Genève.`;

/** A site's answers in the order of time; each says what the one before it said, or something more or less. */
function history(seed: number): Planned[] {
  const roll = dice(seed);
  let serial = 0;
  const content: Content = new Map(
    TOPICS.slice(0, 3).map((topic) => [topic, [sentence(topic, ++serial), sentence(topic, ++serial)]]),
  );
  return Array.from({ length: CAPTURES }, (_, at): Planned => {
    const edits = at === 0 ? 0 : ([0, 0, 0, 1, 1, 2][roll(6)] ?? 0);
    for (let edit = 0; edit < edits; edit++) change(content, roll, () => ++serial);
    const status = at > 0 && roll(9) === 0 ? ([404, 410, 500, 503][roll(4)] ?? 404) : 200;
    const said = new Map([...content].map(([topic, lines]) => [topic, [...lines]]));
    return {
      status,
      content: said,
      ...dressed(said, roll, at),
      url: pageOf(seed, roll(4) === 0 ? `?utm_source=${at}` : ""),
    };
  });
}

function change(content: Content, roll: (below: number) => number, next: () => number): void {
  const topics = [...content.keys()];
  const topic = topics[roll(topics.length)] as string;
  const lines = content.get(topic) as string[];
  const kind = roll(5);
  if (kind === 0) lines.push(sentence(topic, next()));
  else if (kind === 1 && lines.length > 1) lines.splice(roll(lines.length), 1);
  else if (kind === 2) lines[roll(lines.length)] = sentence(topic, next());
  else if (kind === 3 && topics.length > 2) content.delete(topic);
  else {
    const other = TOPICS[roll(TOPICS.length)] as string;
    content.set(other, [...(content.get(other) ?? []), sentence(other, next())]);
  }
}

/** The content with all around it that says nothing, in one of many encodings. */
function dressed(content: Content, roll: (below: number) => number, at: number): { body: Buffer; headers: string } {
  const nonce = Array.from({ length: 32 }, () => "0123456789abcdef"[roll(16)]).join("");
  const topics = [...content.keys()];
  // blocks change places
  for (let i = topics.length - 1; i > 0; i--) {
    const j = roll(3) === 0 ? roll(i + 1) : i;
    [topics[i], topics[j]] = [topics[j] as string, topics[i] as string];
  }
  const gap = ["", "\n", "\n\t  ", "\r\n"][roll(4)];
  const sections = topics.map(
    (topic) =>
      `<section data-k=${nonce.slice(0, 8)}>${gap}<h2>${topic}</h2>${gap}` +
      `${(content.get(topic) ?? []).map((line) => `<p>${line}</p>`).join(gap)}</section>`,
  );
  const banner =
    roll(3) === 0
      ? "<div class=notice><p>We use cookies to make this site better. By going on you agree to our use of cookies.</p><button>OK</button></div>"
      : "";
  const html =
    `<!doctype html><html lang=en><head><title>Guide</title><meta name=csrf content=${nonce}>` +
    `<script nonce=${nonce}>var at=${at}</script></head><body>${banner}<main><h1>What the clinic says</h1>${gap}` +
    `<p>All that visitors ask for, written down by the pharmacists.</p>${sections.join(gap)}</main></body></html>`;
  const encoding = roll(4);
  if (encoding === 0) return { body: Buffer.from(html), headers: HTML };
  if (encoding === 1) return { body: gzipSync(html), headers: `${HTML}Content-Encoding: gzip\r\n` };
  if (encoding === 2) return { body: Buffer.from(`\ufeff${html}`, "utf16le"), headers: "Content-Type: text/html\r\n" };
  const headers = "Content-Type: text/html; charset=windows-1252\r\n";
  return { body: Buffer.from(encodeAs(html, "windows-1252")), headers };
}

const pageOf = (seed: number, rest = "") => `http://random${seed}.test/guide${rest}`;
const dateOf = (at: number): string => new Date(Date.UTC(2026, 0, 1 + at, 6)).toISOString();
const recordOf = (seed: number, { status, body, headers, url }: Planned, at: number): Buffer =>
  record(http(body, headers, `${status} Said`), {
    url,
    date: dateOf(at),
    id: `urn:uuid:0191d2f0-0000-4000-8${seed.toString().padStart(3, "0")}-${String(at).padStart(12, "0")}`,
  });

/** How many of the first are more than there are of them among the second. */
function beyond(some: readonly string[], others: readonly string[]): number {
  const left = [...others];
  let count = 0;
  for (const each of some) {
    const at = left.indexOf(each);
    if (at < 0) count++;
    else left.splice(at, 1);
  }
  return count;
}

const said = (content: Content): string[] =>
  [...content].flatMap(([topic, lines]) => [topic, ...lines].map((line) => `${topic} | ${line}`));

/** What the events of these captures must be, by the plainest comparison of what they say. */
function expected(plan: readonly Planned[], present: readonly number[]): string[] {
  let good: number | undefined;
  return [...present]
    .sort((a, b) => a - b)
    .map((at) => {
      const { status, content } = plan[at] as Planned;
      const before = good === undefined ? undefined : (plan[good] as Planned).content;
      const after = `${at} after ${good ?? "nothing"}`;
      if (status !== 200) return `${after}: error`;
      good = at;
      if (before === undefined) return `${after}: new_page`;
      const [added, removed] = [beyond(said(content), said(before)), beyond(said(before), said(content))];
      if (added + removed === 0) return `${after}: unchanged`;
      const [topics, old] = [[...content.keys()], [...before.keys()]];
      const changed = topics.filter((topic) => {
        const [lines, earlier] = [content.get(topic) ?? [], before.get(topic)];
        return earlier !== undefined && beyond(lines, earlier) + beyond(earlier, lines) > 0;
      });
      const sections = `+${beyond(topics, old)} -${beyond(old, topics)} ~${changed.length}`;
      return `${after}: updated ${sections}, +${added} -${removed}`;
    });
}

let setup: ArchiveSetup;
let api: StreamApi;

beforeAll(async () => {
  setup = await archiveSetup();
  ({ api } = await import("../../../functions/changes-api/handler.ts"));
});
afterAll(() => setup.close());

const numberOf = (timestamp: unknown): number | undefined =>
  typeof timestamp === "string" ? (Date.parse(timestamp) - Date.parse(dateOf(0))) / 86_400_000 : undefined;

async function eventsOf(seed: number): Promise<{ shown: string[]; ids: number[] }> {
  await computeChanges(setup.dependencies, () => true);
  const path = `/api/changes?source=random${seed}.test&includeUnchanged=true&pageSize=100`;
  const { status, body } = await callApi(api, { path });
  expect([status, body.total]).toEqual([200, body.results.length]);
  const events = (body.results as Record<string, unknown>[]).toReversed();
  return {
    ids: events.map((event) => event["changeId"] as number),
    shown: events.map((event) => {
      const at = numberOf(event["toCaptureTimestamp"]);
      const after = `${at} after ${numberOf(event["fromCaptureTimestamp"]) ?? "nothing"}`;
      if (event["changeType"] === "error")
        return `${at} after ${numberOf(event["fromCaptureTimestamp"]) ?? "nothing"}: error`;
      if (event["changeType"] !== "updated") return `${after}: ${event["changeType"]}`;
      const sections = `+${event["addedSections"]} -${event["removedSections"]} ~${event["changedSections"]}`;
      return `${after}: updated ${sections}, +${event["addedLines"]} -${event["removedLines"]}`;
    }),
  };
}

it.each([1, 2, 3, 4])("history %i gives its events, late, without some, and indexed anew", async (seed) => {
  const plan = history(seed);
  const roll = dice(seed + 1_000);
  const all = plan.map((_, at) => at);
  const arrives = async (some: readonly number[]) =>
    await setup.importRecords(some.map((at) => recordOf(seed, plan[at] as Planned, at)));

  const kinds = expected(plan, all).map((each) => each.split(": ")[1]?.split(" ")[0]);
  expect(new Set(kinds)).toEqual(new Set(["new_page", "unchanged", "updated", "error"]));

  const late = all.filter(() => roll(5) === 0);
  const early = all.filter((at) => !late.includes(at));
  await arrives(early);
  expect((await eventsOf(seed)).shown).toEqual(expected(plan, early));
  const jobs: [number, number][] = [];
  for (const at of late) jobs.push([at, await arrives([at])]);
  const whole = await eventsOf(seed);
  expect(whole.shown).toEqual(expected(plan, all));

  const gone = jobs.filter(() => roll(2) === 0);
  for (const [, job] of gone) await setup.sql`delete from jobs where number = ${job}`;
  const rest = all.filter((at) => !gone.some(([each]) => each === at));
  expect((await eventsOf(seed)).shown).toEqual(expected(plan, rest));

  await setup.sql`
    delete from jobs where id in (select job_id from captures where final_url like ${`http://random${seed}.test/%`})`;
  expect((await eventsOf(seed)).shown).toEqual([]);
  const order = all.map((at) => ({ at, key: roll(1_000_000) })).sort((a, b) => a.key - b.key);
  for (let from = 0; from < order.length; from += 12) {
    await arrives(order.slice(from, from + 12).map(({ at }) => at));
    await computeChanges(setup.dependencies, () => true);
  }
  expect(await eventsOf(seed)).toEqual(whole);
});
