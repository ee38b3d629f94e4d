import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { type Instance, startInstance } from "../services/instance.ts";

const PAGES = 500;

let site: GraphSite;
let home: string;

beforeAll(async () => {
  site = await startGraphSite(PAGES);
  home = await mkdtemp(join(tmpdir(), "strandline crash "));
});
afterAll(async () => {
  await site.close();
  await rm(home, { recursive: true, force: true });
});

const start = (port?: number): Promise<Instance> =>
  startInstance({
    home,
    ...(port === undefined ? {} : { port }),
    env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: site.host },
  });

it("finishes a crawl by itself after kill -9 and a restart: each URL ends once, nothing twice, nothing fetched more than twice", async () => {
  const first = await start();
  // so that it is killed in the middle, however late this process gets to it
  site.holdAfter(PAGES / 2);
  const { job_id } = await first.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: 200 },
  });
  await site.waitForRequests(PAGES / 3);
  await first.kill();
  site.release();
  expect(site.pagesRequested()).toBeLessThan(PAGES);

  const second = await start(first.port);
  try {
    const job = await second.waitForJob(job_id);
    expect(job.counts).toMatchObject({
      discovered: PAGES,
      crawled: PAGES,
      failed: 0,
      skipped: 0,
      open: 0,
      documents: PAGES,
    });
    const most = Math.max(...site.requestsByPath().values());
    expect(most).toBeLessThanOrEqual(2);

    const sql = postgres(second.postgresUrl, { max: 1, onnotice: () => {} });
    try {
      const [states] = await sql`select count(*)::int as urls, count(distinct url_hash)::int as distinct_urls,
        count(*) filter (where state = 'crawled')::int as crawled from frontier where job_id = ${job_id}`;
      expect(states).toEqual({ urls: PAGES, distinct_urls: PAGES, crawled: PAGES });
      const [documents] =
        await sql`select count(*)::int as documents, count(distinct url)::int as urls from documents_active`;
      expect(documents).toEqual({ documents: PAGES, urls: PAGES });
      const [captures] = await sql`select count(*)::int as captures, count(distinct url)::int as urls from captures`;
      expect(captures).toEqual({ captures: PAGES, urls: PAGES });
    } finally {
      await sql.end();
    }
  } finally {
    await second.stop();
  }
});
