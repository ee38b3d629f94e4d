import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StreamApi } from "../../../functions/adapters/api/stream-api.ts";
import { compareAllAgain, computeChanges } from "../../../shared/archive/changes/compute-changes.ts";
import { callApi } from "../../services/api.ts";
import { encodeAs } from "../../sites/legacy-encoding.ts";
import { type ArchiveSetup, archiveSetup } from "./archive-setup.ts";
import { http, record } from "./warc-records.ts";

const PAGE = "http://clinic.test/guide";
const HTML = "Content-Type: text/html; charset=utf-8\r\n";

interface Guide {
  dose?: string;
  /** Sections in their order. */
  order?: string[];
  before?: string;
  after?: string;
  head?: string;
}

const SECTIONS: Record<string, string> = {
  warnings:
    "<section><h2>Warnings</h2><p>Do not take it with alcohol, whatever the label of the bottle says.</p>" +
    "<p>Ask a doctor first if you are pregnant or if your liver has been ill.</p></section>",
  fever:
    "<section><h2>Fièvre</h2><p>Une fièvre qui dure plus de trois jours doit être vue par un médecin, même légère.</p></section>",
  storage:
    "<section><h2>Storage</h2><p>Keep it dry, and below twenty-five degrees at all times.</p>" +
    "<p>Throw it away two years after the date on the box.</p></section>",
};
const ORDER = ["dosage", "warnings", "fever"];

function guide({ dose = "5 mg", order = ORDER, before = "", after = "", head = "" }: Guide = {}): string {
  const dosage =
    `<section><h2>Dosage</h2><p>Adults take ${dose} twice a day with a glass of water.</p>` +
    "<p>Children under twelve take half of it, and never more than that in one day.</p></section>";
  const blocks = order.map((name) => (name === "dosage" ? dosage : SECTIONS[name])).join("\n");
  return (
    `<!doctype html><html lang=en><head><title>Guide</title>${head}</head><body>${before}<main><h1>A guide to the medicine</h1>` +
    `<p>What everybody who takes it should know, written by the pharmacists of the clinic.</p>${blocks}</main>${after}</body></html>`
  );
}

const BANNER =
  "<div class=notice><p>We use cookies to make this site better. By going on you agree to our use of cookies.</p>" +
  "<button>Accept all</button><button>Reject</button></div>";
const OTHER_BANNER =
  "<div id=cb><p>This site uses cookies and similar techniques for statistics. Read our cookie policy for more.</p>" +
  "<button>OK</button></div>";
const REDESIGN =
  "<html lang=en><title>Guide</title><main><h1>Everything is new here</h1>" +
  Array.from({ length: 12 }, (_, i) => `<p>Paragraph ${i} of a page that says something else altogether.</p>`).join(
    "",
  ) +
  "</main></html>";
const LATER = guide({ dose: "50 mg" });
const MANY = Array.from({ length: 2_500 }, (_, i) => `<p>Entry ${i} of the list of batches that were called back.</p>`);

/** Each answer of the site, a day apart, and the event that it must give: kind, sections, lines, what it follows. */
const HISTORY: { answer: Buffer; url?: string; gives: string }[] = [
  { answer: http(guide(), HTML), gives: "new_page" },
  { answer: http(guide(), HTML), gives: "unchanged from 1" },
  {
    answer: http(guide({ head: "<meta name=csrf content=f00d1e5><script nonce=abc123>var t=1</script>" }), HTML),
    gives: "unchanged from 2",
  },
  {
    answer: http(guide().replaceAll("><", ">\n\t  <").replaceAll(" of ", "\n   of "), HTML),
    gives: "unchanged from 3",
  },
  { answer: http(guide({ before: BANNER }), HTML), gives: "unchanged from 4" },
  { answer: http(guide({ after: OTHER_BANNER }), HTML), gives: "unchanged from 5" },
  { answer: http(guide({ order: ["fever", "warnings", "dosage"] }), HTML), gives: "unchanged from 6" },
  { answer: http(guide(), HTML), gives: "unchanged from 7" },
  { answer: http(LATER, HTML), gives: "updated from 8: sections +0 -0 ~1, lines +1 -1" },
  {
    answer: http(Buffer.from(encodeAs(LATER, "windows-1252")), "Content-Type: text/html; charset=windows-1252\r\n"),
    gives: "unchanged from 9",
  },
  {
    answer: http(Buffer.from(`\ufeff${LATER}`, "utf16le"), "Content-Type: text/html\r\n"),
    gives: "unchanged from 10",
  },
  { answer: http(gzipSync(LATER), `${HTML}Content-Encoding: gzip\r\n`), gives: "unchanged from 11" },
  {
    answer: http(guide({ dose: "50 mg", order: [...ORDER, "storage"] }), HTML),
    gives: "updated from 12: sections +1 -0 ~0, lines +3 -0",
  },
  { answer: http("<title>Not here</title><p>Not found", HTML, "404 Not Found"), gives: "error from 13" },
  { answer: http("<p>Busy", HTML, "503 Service Unavailable"), gives: "error from 13" },
  { answer: http(guide({ dose: "50 mg", order: ["storage", ...ORDER] }), HTML), gives: "unchanged from 13" },
  { answer: http(LATER, HTML), gives: "updated from 16: sections +0 -1 ~0, lines +0 -3" },
  { answer: http(REDESIGN, HTML), gives: "updated from 17: sections +0 -3 ~1, lines +13 -10 noisy" },
  { answer: http(LATER, HTML), gives: "updated from 18: sections +3 -0 ~1, lines +10 -13 noisy" },
  { answer: http(LATER, HTML), url: `${PAGE}?utm_source=mail`, gives: "unchanged from 19" },
  { answer: http("", HTML), gives: "updated from 20: sections +0 -4 ~0, lines +0 -10 noisy" },
  { answer: http(LATER, HTML), gives: "updated from 21: sections +4 -0 ~0, lines +10 -0 noisy" },
  { answer: http(LATER.replaceAll("è", "&egrave;").replaceAll("é", "&#233;"), HTML), gives: "unchanged from 22" },
  {
    answer: http(LATER.replace("<title>Guide", "<title>Gu\0ide"), `${HTML}X-Long: ${"x".repeat(9_000)}\r\n`),
    gives: "unchanged from 23",
  },
  {
    answer: http(LATER.replace("</h1>", "</h1><p>Request 550e8400-e29b-41d4-a716-446655440000 of 12:03:44</p>"), HTML),
    gives: "updated from 24: sections +0 -0 ~1, lines +1 -0",
  },
  {
    answer: http(LATER.replace("</h1>", "</h1><p>Request 0191d2f0-77aa-4b6c-9f00-0a1b2c3d4e5f of 23:59:59</p>"), HTML),
    gives: "unchanged from 25",
  },
  {
    answer: http(LATER.replace("alcohol", "alco\u00adhol").replace("glass of water", "glass\u00a0of water"), HTML),
    gives: "updated from 26: sections +0 -0 ~1, lines +0 -1",
  },
  {
    answer: http(
      LATER.replace("</h1>", "</h1><p>Never write &lt;script&gt;alert(1)&lt;/script&gt; &amp; the like.</p>"),
      HTML,
    ),
    gives: "updated from 27: sections +0 -0 ~1, lines +1 -0",
  },
  { answer: http(LATER, HTML), gives: "updated from 28: sections +0 -0 ~1, lines +0 -1" },
  {
    answer: http(LATER.replace("</main>", `<h2>Batches</h2>${MANY.join("")}</main>`), HTML),
    gives: "updated from 29: sections +1 -0 ~0, lines +2501 -0 noisy cut",
  },
];

const dayOf = (index: number): string => new Date(Date.UTC(2026, 0, 1 + index, 10)).toISOString();
const recordOf = (index: number): Buffer => {
  const { answer, url = PAGE } = HISTORY[index] as (typeof HISTORY)[number];
  return record(answer, {
    url,
    date: dayOf(index),
    id: `urn:uuid:0191d2f0-0000-4000-8000-${String(index).padStart(12, "0")}`,
  });
};

let setup: ArchiveSetup;
let api: StreamApi;

beforeAll(async () => {
  setup = await archiveSetup({ ARCHIVE__REPLAY_URL: "https://replay.test" });
  ({ api } = await import("../../../functions/changes-api/handler.ts"));
});
afterAll(() => setup.close());

const compute = () => computeChanges(setup.dependencies, () => true);
const get = (path: string) => callApi(api, { path });
/** Their numbers in the history, from 1. */
const numberOf = (timestamp: string): number =>
  Math.round((Date.parse(timestamp) - Date.parse(dayOf(0))) / 86_400_000) + 1;

interface Event {
  changeId: number;
  changeType: string;
  [name: string]: unknown;
}

/** All events, oldest first: number of the capture, what it gave, and the event's id. */
async function events(): Promise<{ number: number; gives: string; id: number; event: Event }[]> {
  const { status, body } = await get("/api/changes?includeUnchanged=true&from=2026-01-01&pageSize=100");
  expect(status).toBe(200);
  expect(body.total).toBe(body.results.length);
  return [...(body.results as Event[])].reverse().map((event) => {
    const { changeType: kind, fromCaptureTimestamp: from, highNoise, addedSections, removedSections } = event;
    const lines = `lines +${event["addedLines"]} -${event["removedLines"]}`;
    const counts = `sections +${addedSections} -${removedSections} ~${event["changedSections"]}, ${lines}`;
    const noisy = highNoise ? " noisy" : "";
    return {
      number: numberOf(String(event["toCaptureTimestamp"])),
      gives: `${kind}${from === null ? "" : ` from ${numberOf(String(from))}`}${kind === "updated" ? `: ${counts}${noisy}` : ""}`,
      id: event.changeId,
      event,
    };
  });
}

const EXPECTED = HISTORY.map(({ gives }, index) => ({ number: index + 1, gives: gives.replace(" cut", "") }));
const shown = (found: Awaited<ReturnType<typeof events>>) => found.map(({ number, gives }) => ({ number, gives }));

/** A reproducible order. */
function shuffled(count: number, seed: number): number[] {
  let state = seed;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  return Array.from({ length: count }, (_, index) => ({ index, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ index }) => index);
}

async function forgetAll(): Promise<void> {
  await setup.sql`delete from jobs`;
  await compute();
  expect(await events()).toEqual([]);
}

describe("a history of 30 captures of one page", () => {
  let ids: number[];

  it("gives the events that say what became of its content, those that came late included", async () => {
    const late = new Set([8, 12, 16, 20]);
    await setup.importRecords(HISTORY.flatMap((_, index) => (late.has(index) ? [] : [recordOf(index)])));
    await compute();
    const before = await events();
    expect(before).toHaveLength(26);
    // what the missing one changed is the next one's
    expect(before.find(({ number }) => number === 10)?.gives).toBe("updated from 8: sections +0 -0 ~1, lines +1 -1");
    for (const index of late) await setup.importRecords([recordOf(index)]);
    await compute();
    const found = await events();
    expect(shown(found)).toEqual(EXPECTED);
    ids = found.map(({ id }) => id);
    expect(new Set(ids).size).toBe(30);
    // events between captures that were there stay as they were
    const stayed = before.filter(({ id }) => ids.includes(id)).map(({ number }) => number);
    expect(stayed).toEqual(expect.arrayContaining([1, 2, 3, 8, 11, 12, 19, 20, 30]));
    expect(stayed).not.toContain(10);
  });

  it("has a link to the earlier capture, jobs, and the page in each event", async () => {
    const found = await events();
    expect(found[8]?.event).toEqual({
      changeId: ids[8],
      changeType: "updated",
      summary: "1 section changed, 1 line added, 1 line removed",
      highNoise: false,
      diffAvailable: true,
      sourceCode: "clinic.test",
      sourceName: "clinic.test",
      normalizedUrlGroup: PAGE,
      fromSnapshotId: found[7]?.event["toSnapshotId"],
      toSnapshotId: expect.any(Number),
      fromCaptureTimestamp: dayOf(7),
      toCaptureTimestamp: dayOf(8),
      fromJobId: expect.any(Number),
      toJobId: expect.any(Number),
      addedSections: 0,
      removedSections: 0,
      changedSections: 1,
      addedLines: 1,
      removedLines: 1,
      changeRatio: 0.1,
    });
    expect(found[13]?.event["summary"]).toBe("The server answered 404");
  });

  it("is the same when all is compared again, and when captures go, their neighbours are linked anew", async () => {
    await compareAllAgain(setup.sql);
    expect(await compute()).toEqual({ pages: 1, changes: 0, failed: 0 });
    expect((await events()).map(({ id }) => id)).toEqual(ids);
    await setup.sql`delete from jobs where id in (select job_id from captures where fetched_at = ${dayOf(8)})`;
    await compute();
    const found = await events();
    expect(found.map(({ number }) => number)).not.toContain(9);
    expect(found.find(({ number }) => number === 10)?.gives).toBe("updated from 8: sections +0 -0 ~1, lines +1 -1");
  });

  it.each([1, 2, 3])(
    "gives the same events with the same ids when it is indexed in another order: %i",
    async (seed) => {
      await forgetAll();
      const order = shuffled(HISTORY.length, seed);
      for (let at = 0; at < order.length; at += 7) {
        await setup.importRecords(order.slice(at, at + 7).map(recordOf));
        await compute();
      }
      const found = await events();
      expect(shown(found)).toEqual(EXPECTED);
      expect(found.map(({ id }) => id)).toEqual(ids);
    },
  );

  it("knows a record that is indexed twice as one capture", async () => {
    await setup.importRecords([recordOf(8), recordOf(9)]);
    await compute();
    expect((await events()).map(({ id }) => id)).toEqual(ids);
  });
});

describe("a difference", () => {
  const compare = async (number: number, rest = "") => {
    const found = await events();
    const toSnapshotId = found[number - 1]?.event["toSnapshotId"];
    return await get(`/api/changes/compare?toSnapshotId=${toSnapshotId}${rest}`);
  };

  it("is shown line by line, or side by side", async () => {
    const { status, body } = await compare(9);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      event: { changeType: "updated" },
      fromSnapshot: { captureTimestamp: dayOf(7), originalUrl: PAGE, title: "Guide", jobName: expect.any(String) },
      toSnapshot: { captureTimestamp: dayOf(8), captureDate: "2026-01-09" },
      diffFormat: "html",
      diffTruncated: false,
      diffVersion: "v1",
      normalizationVersion: "v1",
    });
    expect(body.diffHtml).toContain("<del>Adults take 5 mg twice a day with a glass of water.</del>");
    expect(body.diffHtml).toContain("<ins>Adults take 50 mg twice a day with a glass of water.</ins>");
    const beside = await compare(9, "&layout=side-by-side");
    expect(beside.body.diffHtml).toContain(
      '<td class="diff-removed"><del>Adults take 5 mg twice a day with a glass of water.</del></td>' +
        '<td class="diff-added"><ins>Adults take 50 mg twice a day with a glass of water.</ins></td>',
    );
  });

  it("holds nothing of the page but its text", async () => {
    for (const layout of ["unified", "side-by-side"]) {
      const { body } = await compare(28, `&layout=${layout}`);
      expect(body.diffHtml).toContain("Never write &lt;script&gt;alert(1)&lt;/script&gt; &amp; the like.");
      expect(body.diffHtml).not.toContain("<script");
    }
  });

  it("is cut where it is long, and its counts are of all of it", async () => {
    const { body } = await compare(30);
    expect(body).toMatchObject({ diffTruncated: true, event: { addedLines: 2501, highNoise: true } });
    expect(body.diffHtml.length).toBeLessThan(600_000);
  });

  it("is none of a new page, of an error and of what is unchanged", async () => {
    for (const number of [1, 2, 14]) {
      const { body } = await compare(number);
      expect([body.diffFormat, body.diffHtml, body.event.diffAvailable]).toEqual([null, null, false]);
    }
  });

  it("is of captures that follow each other, or of any two of which the first is the earlier one", async () => {
    const found = await events();
    const [first, second, ninth] = [1, 8, 9].map((number) => found[number - 1]?.event["toSnapshotId"]);
    expect((await compare(9, `&fromSnapshotId=${second}`)).status).toBe(200);
    const other = await compare(9, `&fromSnapshotId=${first}`);
    expect(other).toMatchObject({ status: 200, body: { event: { changeType: "updated", fromSnapshotId: first } } });
    const turned = await get(`/api/changes/compare?toSnapshotId=${first}&fromSnapshotId=${ninth}`);
    expect([turned.status, turned.body.code]).toEqual([404, "NOT_COMPARED"]);
    const unknown = await get("/api/changes/compare?toSnapshotId=999999");
    expect([unknown.status, unknown.body.code]).toEqual([404, "NOT_FOUND"]);
    expect(ninth).toEqual(expect.any(Number));
    for (const bad of ["x", "0", "-1", "1e99", "1.5", ""]) {
      expect((await get(`/api/changes/compare?toSnapshotId=${bad}`)).status).toBe(422);
    }
  });
});

describe("the list of changes", () => {
  const OTHER = "http://other.test/";
  let older: number;
  let newer: number;

  beforeAll(async () => {
    const of = (text: string, date: string, url = OTHER) =>
      record(http(`<title>Other & more</title><h1>Other</h1><p>${text}, as the house says of itself.</p>`, HTML), {
        url,
        date,
      });
    older = await setup.importRecords([
      of("Old", "2026-03-01T00:00:00Z"),
      of("Elsewhere", "2026-03-01T00:00:00Z", `${OTHER}b`),
    ]);
    newer = await setup.importRecords([of("New", "2026-03-05T23:59:59Z")]);
    await compute();
  });

  const list = async (query: string) => {
    const { status, body } = await get(`/api/changes?${query}`);
    expect(status).toBe(200);
    return (body.results as Event[]).map((event) => `${event.changeType} ${event["normalizedUrlGroup"]}`).sort();
  };

  it("is of a source, of a job, of days that belong to it", async () => {
    expect(await list("source=Other.Test")).toEqual([`new_page ${OTHER}`, `new_page ${OTHER}b`, `updated ${OTHER}`]);
    expect(await list(`jobId=${older}`)).toEqual([`new_page ${OTHER}`, `new_page ${OTHER}b`]);
    expect(await list(`jobId=${newer}`)).toEqual([`updated ${OTHER}`]);
    expect(await list("from=2026-03-05&to=2026-03-05")).toEqual([`updated ${OTHER}`]);
    expect(await list("from=2026-03-02&to=2026-03-04")).toEqual([]);
    expect(await list("source=other.test&from=0001-01-01&to=9999-12-31")).toHaveLength(3);
    expect(await list("source=nowhere.test")).toEqual([]);
    expect(await list("jobId=999999")).toEqual([]);
  });

  it("is of the latest job of each source where nothing else is asked for", async () => {
    expect(await list("")).toContain(`updated ${OTHER}`);
    expect(await list("")).not.toContain(`new_page ${OTHER}`);
    expect(await list("source=other.test&latest=true")).toEqual([`updated ${OTHER}`]);
    expect(await list("latest=false&from=2026-03-01&to=2026-03-01")).toHaveLength(2);
  });

  it("has of each host of a source the latest edition that has the host", async () => {
    const page = (host: string, text: string, date: string) =>
      record(http(`<html><main><p>${text} of ${host}, as the clinic tells it to everybody.</p></main></html>`, HTML), {
        url: `http://${host}/`,
        date,
      });
    const first = [
      page("a.wide.test", "Old", "2026-07-01T00:00:00Z"),
      page("b.wide.test", "Old", "2026-07-01T00:00:00Z"),
    ];
    const jobs = [
      await setup.importRecords(first),
      await setup.importRecords([page("a.wide.test", "New", "2026-07-02T00:00:00Z")]),
    ];
    await setup.sql`
      insert into sources (code, name, name_template, seeds, engine) values ('wide', 'Wide', 'w', '{http://a.wide.test/}', 'native')`;
    for (const job of jobs) {
      await setup.sql`
        with made as (
          insert into archive_jobs (source_code, name, output_dir, engine, status, config)
          values ('wide', 'w', 'w', 'native', 'indexed', '{}') returning id)
        update jobs set archive_job_id = made.id, source_code = 'wide' from made where number = ${job}`;
    }
    await compute();
    const wide = ["new_page http://b.wide.test/", "updated http://a.wide.test/"];
    expect((await list("")).filter((each) => each.includes("wide.test"))).toEqual(wide);
    expect(await list("source=wide&latest=true")).toEqual(wide);
    expect(await list("source=wide")).toHaveLength(3);
  });

  it("has pages, one past the end included", async () => {
    const { body } = await get("/api/changes?source=other.test&page=2&pageSize=2");
    expect([body.total, body.page, body.pageSize, body.results.length]).toEqual([3, 2, 2, 1]);
    const past = await get("/api/changes?source=other.test&page=1000000&pageSize=100");
    expect([past.status, past.body.total, past.body.results]).toEqual([200, 3, []]);
    for (const bad of [
      "page=0",
      "pageSize=101",
      "page=x",
      "from=2026-13-01",
      "to=0000-01-01",
      "jobId=0",
      "includeUnchanged=maybe",
    ]) {
      expect([bad, (await get(`/api/changes?${bad}`)).status]).toEqual([bad, 422]);
    }
    expect((await get("/api/changes?source=%00")).status).toBe(422);
  });

  it("is a feed, too, with the page in each item", async () => {
    const { status, body, headers } = await get("/api/changes/rss?source=other.test");
    expect([status, headers["content-type"]]).toEqual([200, "application/rss+xml; charset=utf-8"]);
    const items = String(body).split("<item>").slice(1);
    expect(items).toHaveLength(3);
    expect(items[0]).toContain("<title>Other &amp; more: ");
    expect(items[0]).toContain(`<link>https://replay.test/20260305235959/${OTHER}</link>`);
    expect(items[0]).toContain(`<description>${OTHER}\n`);
    expect(items[0]).toContain("<pubDate>Thu, 05 Mar 2026 23:59:59 GMT</pubDate>");
  });

  it("is told once, and to who asks for the head without a body", async () => {
    const { headers } = await get("/api/changes");
    const again = await callApi(api, { path: "/api/changes", headers: { "If-None-Match": String(headers["etag"]) } });
    expect(again.status).toBe(304);
    const head = await callApi(api, { method: "HEAD", path: "/api/changes/rss" });
    expect([head.status, head.body]).toEqual([200, undefined]);
  });
});

describe("pages with one capture each", () => {
  it("become new pages together, and so do those that answered with an error; others are compared one by one", async () => {
    const url = (at: number) => `http://fresh.test/${at}`;
    const of = (at: number, date: string, status?: string) =>
      record(http(`<h1>Fresh</h1><p>Page ${at} of ${date}, and nothing but that.</p>`, HTML, status), {
        url: url(at),
        date,
      });
    const numbers = Array.from({ length: 30 }, (_, at) => at);
    await setup.importRecords([
      ...numbers.map((at) => of(at, "2026-04-01T00:00:00Z", at === 3 ? "404 Not Found" : undefined)),
      of(7, "2026-04-02T00:00:00Z"),
    ]);
    let statements = 0;
    const sql = new Proxy(setup.sql, {
      apply: (target, self, args) => {
        statements++;
        return Reflect.apply(target, self, args);
      },
      get: (target, name) => {
        if (name === "begin") statements++;
        return Reflect.get(target, name);
      },
    });
    expect(await computeChanges({ ...setup.dependencies, sql }, () => true)).toEqual({
      pages: 30,
      changes: 31,
      failed: 0,
    });
    expect(statements).toBeLessThan(30);
    const kinds = await setup.sql`
      select page, array_agg(kind order by to_at) as kinds from page_changes where host = 'fresh.test' group by page`;
    const known = new Map(kinds.map(({ page, kinds }) => [page, kinds]));
    expect(numbers.map((at) => known.get(url(at)))).toEqual(
      numbers.map((at) => (at === 3 ? ["error"] : at === 7 ? ["new_page", "updated"] : ["new_page"])),
    );
    expect(await setup.sql`select from changes_due`).toHaveLength(0);
    // once more, with their events there: nothing is doubled, and they keep their ids
    const events = () => setup.sql`select id, to_capture_id from page_changes where host = 'fresh.test' order by id`;
    const before = await events();
    await compareAllAgain(setup.sql);
    await compute();
    expect(await events()).toEqual(before);
    await setup.sql`delete from page_changes where host = 'fresh.test'`;
    await compareAllAgain(setup.sql);
    await compute();
    expect((await events()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await setup.sql`delete from jobs where id in (select job_id from captures where final_url like 'http://fresh.test/%')`;
    await compute();
  });
});

describe("what cannot be compared", () => {
  it("is an error that says why, and no event is lost", async () => {
    const url = "http://lost.test/";
    const text = (say: string) => http(`<h1>Lost</h1><p>${say}, and nothing but that.</p>`, HTML);
    await setup.importRecords([record(text("First"), { url, date: "2026-04-01T00:00:00Z" })]);
    await setup.importRecords([record(text("Second"), { url, date: "2026-04-02T00:00:00Z" })]);
    await setup.sql`delete from documents where url = ${url}`;
    await setup.sql`update captures set warc_key = 'warcs/gone.warc.gz' where final_url = ${url} and fetched_at < '2026-04-02'`;
    await compute();
    const { body } = await get("/api/changes?source=lost.test");
    expect(body.results.map((event: Event) => event.changeType)).toEqual(["error", "new_page"]);
    expect(body.results[0].summary).toMatch(/^The earlier capture could not be read: /);
  });

  it("is tried again later where the bucket does not answer", async () => {
    const url = "http://busy.test/";
    const text = (say: string) => http(`<h1>Busy</h1><p>${say}, and nothing but that.</p>`, HTML);
    await setup.importRecords([record(text("First"), { url, date: "2026-04-01T00:00:00Z" })]);
    await setup.importRecords([record(text("Second"), { url, date: "2026-04-02T00:00:00Z" })]);
    await setup.sql`delete from documents where url = ${url}`;
    const objects = { get: () => Promise.reject(new Error("the bucket is away")) };
    const failed = await computeChanges({ ...setup.dependencies, objects }, () => true);
    expect(failed).toMatchObject({ pages: 0, failed: 1 });
    await setup.sql`update changes_due set not_before = now()`;
    expect([failed.changes, await compute()]).toEqual([1, { pages: 1, failed: 0, changes: 1 }]);
  });

  it("holds up no other comparison of its page, and becomes an error alone", async () => {
    const url = "http://stuck.test/";
    for (const day of [1, 2, 3, 4]) {
      const block = http(`<h1>Stuck</h1><p>Day ${day}, and nothing but that.</p>`, HTML);
      await setup.importRecords([record(block, { url, date: `2026-04-0${day}T00:00:00Z` })]);
    }
    await setup.sql`delete from documents where url = ${url}`;
    const [first] = await setup.sql<{ key: string }[]>`
      select warc_key as key from captures where final_url = ${url} order by fetched_at limit 1`;
    const { get: read } = setup.dependencies.objects;
    const objects = {
      get: (key: string, range: { offset: number; length: number }) =>
        key === first?.key ? Promise.reject(new Error("the bucket is away")) : read(key, range),
    };
    const stuck = () => computeChanges({ ...setup.dependencies, objects }, () => true);
    const kinds = async () => {
      const { body } = await get("/api/changes?source=stuck.test");
      return body.results.map((event: Event) => event.changeType);
    };
    expect(await stuck()).toMatchObject({ pages: 0, failed: 1, changes: 3 });
    expect(await kinds()).toEqual(["updated", "updated", "new_page"]);
    await setup.sql`update changes_due set not_before = now(), attempts = 6`;
    expect(await stuck()).toMatchObject({ pages: 1, failed: 0, changes: 1 });
    expect(await kinds()).toEqual(["updated", "updated", "error", "new_page"]);
  });

  it("is the one at which functions end again and again, and the others are compared", async () => {
    const url = "http://ends.test/";
    for (const day of [1, 2, 3]) {
      const block = http(`<h1>Ends</h1><p>Day ${day}, and nothing but that.</p>`, HTML);
      await setup.importRecords([record(block, { url, date: `2026-04-0${day}T00:00:00Z` })]);
    }
    await setup.sql`update changes_due set attempts = 9`;
    expect(await compute()).toMatchObject({ pages: 1, failed: 0, changes: 3 });
    const { body } = await get("/api/changes?source=ends.test");
    expect(body.results.map((event: Event) => event.changeType)).toEqual(["updated", "updated", "error"]);
  });

  it("goes on where it was stopped, and says of the archive what it said of stored texts", async () => {
    const events = () => setup.sql`
      select id, kind, summary, diff from page_changes where page !~ '^http://(lost|stuck|ends).test/' order by id`;
    const before = await events();
    await setup.sql`delete from documents`;
    await compareAllAgain(setup.sql);
    await setup.sql`delete from page_changes`;
    let steps = 0;
    for (let turn = 0; turn < 200; turn++) {
      let asked = 0;
      const { changes } = await computeChanges(setup.dependencies, () => ++asked < 12);
      steps += changes;
      const [left] = await setup.sql<{ due: boolean }[]>`
        select exists (select from changes_due) or exists (select from changes_backfill where next_id < last_id) as due`;
      if (!left?.due) break;
    }
    const [{ count = 0 } = {}] = await setup.sql<{ count: number }[]>`select count(*) as count from page_changes`;
    expect(steps).toBe(count);
    expect(count).toBe(47);
    expect(await events()).toEqual(before);
  });
});
