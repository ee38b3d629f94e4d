/** Recrawls of a real site: what the archive holds of a page that does not change. */
import { expect, test } from "vitest";
import { fetchDependencies } from "../../../../functions/fetch/dependencies.ts";
import { capturesMessageSchema } from "../../../../shared/capture/capture-batch.ts";
import { readWarcRecord } from "../../../../shared/capture/warc-reader.ts";
import { runFetchTask } from "../../../../shared/crawl/fetch/run-task.ts";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob, type NewJob } from "../../../../shared/crawl/submit/create-job.ts";
import { loadConfig } from "../../../../shared/platform/config.ts";
import { startSite } from "../../../sites/site.ts";
import { crawlSetup, newJob, page } from "../crawl-setup.ts";

interface CaptureRow {
  id: number;
  status_code: number;
  revisit_of: number | null;
  payload_digest: string | null;
  fetched_at: Date;
  warc_key: string;
  warc_offset: number;
  warc_length: number;
  warc_record_id: string;
}

async function recrawls() {
  const setup = await crawlSetup();
  const { aws, dependencies, sql } = setup;
  const config = loadConfig({ ...aws.env, ACCESS__ALLOW_HOSTS: "127.0.0.1", LOG_LEVEL: "error" });
  const fetcher = { ...fetchDependencies(config, aws, dependencies.log), queues: aws.queues };
  const fast = crawlConfigSchema.parse({ rate_limit_rps: 1000 });
  const record = async (row: CaptureRow | undefined) => {
    if (row === undefined) throw new Error("no such capture");
    const { warc_key: key, warc_offset: offset, warc_length: length } = row;
    return await readWarcRecord(dependencies.objects, { key, offset, length });
  };
  return {
    sql,
    record,
    /**
     * Crawls one page.
     * @returns its captures so far, oldest first
     */
    async crawl(url: string, overrides: Partial<NewJob> = {}): Promise<CaptureRow[]> {
      await createJob(dependencies, newJob([url], { config: fast, ...overrides }));
      for (;;) {
        const tasks = await setup.tasks();
        if (tasks.length === 0) break;
        for (const task of tasks) {
          await runFetchTask(fetcher, task, { receiveCount: 1, remainingMs: () => 60_000, log: fetcher.log });
        }
        for (const message of await aws.receive("captures", 5)) {
          await ingestBatch(dependencies, capturesMessageSchema.parse(message));
        }
      }
      return await sql<CaptureRow[]>`
        select id, status_code, revisit_of, payload_digest, fetched_at, warc_key, warc_offset, warc_length, warc_record_id
        from captures where url = ${url} order by id`;
    },
  };
}

const html = (body: string, headers: Record<string, string> = {}) => ({
  headers: { "Content-Type": "text/html; charset=utf-8", ...headers },
  body,
});

test("a page that stays the same is asked for with the latest validators, and each answer 304 refers to the first response", async () => {
  const body = page("The tide");
  let visits = 0;
  // a server that renames its version at every visit, and takes only the last name
  await using site = await startSite({
    "/": (request) => {
      const asked = request.headers["if-none-match"];
      visits += 1;
      const headers = { ETag: `"v${visits}"` };
      return visits > 1 && asked === `"v${visits - 1}"` ? { status: 304, headers } : html(body, headers);
    },
  });
  const { crawl, record } = await recrawls();
  const url = `${site.origin}/`;
  let rows: CaptureRow[] = [];
  for (let time = 0; time < 4; time++) rows = await crawl(url);
  const [original, ...later] = rows;
  expect(rows.map((row) => [row.status_code, row.revisit_of])).toEqual([
    [200, null],
    [304, original?.id],
    [304, original?.id],
    [304, original?.id],
  ]);
  for (const row of later) {
    const { warcHeaders, body: kept } = await record(row);
    expect(warcHeaders.get("warc-type")).toBe("revisit");
    expect(warcHeaders.get("warc-profile")).toBe("http://netpreserve.org/warc/1.1/revisit/server-not-modified");
    expect(warcHeaders.get("warc-refers-to")).toBe(`<urn:uuid:${original?.warc_record_id}>`);
    expect(warcHeaders.get("warc-refers-to-target-uri")).toBe(url);
    expect(warcHeaders.get("warc-refers-to-date")).toBe(original?.fetched_at.toISOString());
    expect(warcHeaders.get("warc-payload-digest")).toBe(original?.payload_digest);
    expect(row.payload_digest).toBe(original?.payload_digest);
    expect(kept).toHaveLength(0);
    const response = await record(rows.find(({ id }) => id === row.revisit_of));
    expect(response.warcHeaders.get("warc-type")).toBe("response");
    expect(response.warcHeaders.get("warc-date")).toBe(warcHeaders.get("warc-refers-to-date"));
    expect(response.body.toString()).toBe(body);
  }
});

test("a page that is found through a redirect is asked for on its conditions too, and only while the redirect leads there", async () => {
  const target = (name: string) => (request: { headers: Record<string, unknown> }) =>
    request.headers["if-none-match"] === `"${name}"` ? { status: 304 } : html(page(name), { ETag: `"${name}"` });
  let leadsTo = "/one";
  await using site = await startSite({
    "/": () => ({ status: 302, headers: { Location: leadsTo } }),
    "/one": target("one"),
    "/two": target("two"),
  });
  const setup = await recrawls();
  const seed = `${site.origin}/`;
  await setup.crawl(seed);
  const again = await setup.crawl(seed);
  expect(again.map(({ status_code, revisit_of }) => [status_code, revisit_of])).toEqual([
    [200, null],
    [304, again[0]?.id],
  ]);
  // under its own URL it is the same page
  expect((await setup.crawl(`${site.origin}/one`)).map(({ status_code }) => status_code)).toEqual([304]);
  leadsTo = "/two";
  expect((await setup.crawl(seed)).at(-1)).toMatchObject({ status_code: 200, revisit_of: null });
  const asked = site.requests.map(({ path, headers }) => [path, headers["if-none-match"]]);
  expect(asked.filter(([path]) => path === "/two")).toEqual([["/two", undefined]]);
  expect(asked.filter(([path, etag]) => path === "/" && etag !== undefined)).toEqual([]);
  const documents = await setup.sql`select url from documents where generation_active order by url`;
  expect(documents.map(({ url }) => url)).toEqual([`${site.origin}/one`, `${site.origin}/two`]);
});

test("identical payloads refer to the first response three times in a row, and a changed page is a response again", async () => {
  let body = page("Driftwood");
  await using site = await startSite({ "/": () => html(body) });
  const { crawl, record } = await recrawls();
  const url = `${site.origin}/`;
  for (let time = 0; time < 4; time++) await crawl(url);
  body = page("Shells");
  await crawl(url);
  const rows = await crawl(url);
  const [first, , , , changed, unchanged] = rows;
  expect(rows.map((row) => row.revisit_of)).toEqual([null, first?.id, first?.id, first?.id, null, changed?.id]);
  const revisit = (await record(rows[3])).warcHeaders;
  expect(revisit.get("warc-profile")).toBe("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
  expect(revisit.get("warc-refers-to")).toBe(`<urn:uuid:${first?.warc_record_id}>`);
  expect(revisit.get("warc-refers-to-date")).toBe(first?.fetched_at.toISOString());
  expect((await record(changed)).body.toString()).toBe(body);
  expect((await record(unchanged)).warcHeaders.get("warc-type")).toBe("revisit");
});

test("a page without a document is asked for unconditionally, and its identical payload is a revisit all the same", async () => {
  const french = page("Bonjour").replace('lang="en"', 'lang="fr"');
  await using site = await startSite({ "/": () => html(french, { ETag: '"fr"' }) });
  const { crawl } = await recrawls();
  await crawl(`${site.origin}/`);
  const [first, second] = await crawl(`${site.origin}/`);
  expect(site.requests.every(({ headers }) => headers["if-none-match"] === undefined)).toBe(true);
  expect(second).toMatchObject({ status_code: 200, revisit_of: first?.id });
});

test("nothing refers to a truncated response, or to one that is gone", async () => {
  const body = page("Letters", [], 4000);
  await using site = await startSite({ "/": () => html(body, { ETag: '"1"' }) });
  const { crawl, sql } = await recrawls();
  const url = `${site.origin}/`;
  const small = crawlConfigSchema.parse({ rate_limit_rps: 1000, max_page_size_mb: 0.01 });
  await crawl(url, { config: small });
  await crawl(url, { config: small });
  expect((await crawl(url)).map((row) => row.revisit_of)).toEqual([null, null, null]);
  await sql`update captures set warc_key = null, warc_offset = null, warc_length = null where not truncated`;
  expect((await crawl(url)).map((row) => row.revisit_of)).toEqual([null, null, null, null]);
  expect(site.requests.every(({ headers }) => headers["if-none-match"] === undefined)).toBe(true);
});

test("a server that answers 304 to a request without conditions has no page to show", async () => {
  const body = page("Sand");
  await using site = await startSite({ "/": html(body) });
  const { crawl } = await recrawls();
  const url = `${site.origin}/`;
  await crawl(url);
  site.route({ "/": { status: 304 } });
  const [, refused] = await crawl(url);
  expect(refused).toMatchObject({ status_code: 304, revisit_of: null });
});
