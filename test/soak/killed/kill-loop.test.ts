import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { expect, it } from "vitest";
import { startGraphSite } from "../../services/graph-site.ts";
import { startInstance } from "../../services/instance.ts";

const PAGES = 1_200;
const KILLS = 5;

it("a crawl ends by itself, however often it is killed: each URL once, and fetched at most once more for each kill", async () => {
  const site = await startGraphSite(PAGES);
  const home = await mkdtemp(join(tmpdir(), "strandline kills "));
  const env = {
    EMBEDDER__PROVIDER: "none",
    ACCESS__ALLOW_HOSTS: site.host,
    // while the site holds its answers
    FETCH__HEADERS_TIMEOUT_MS: "200000",
  };
  let instance = await startInstance({ home, env });
  try {
    site.holdAfter(PAGES / (KILLS + 1));
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
      url: site.url,
      max_depth: 50,
      max_pages: PAGES,
      config: { rate_limit_rps: 200, page_timeout_ms: 200_000 },
    });
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // less than what it answers until then, since some pages are asked for again
      await site.waitForRequests((kill * PAGES) / (2 * KILLS));
      await instance.kill();
      expect(site.pagesRequested()).toBeLessThan(PAGES);
      site.release();
      if (kill < KILLS) site.holdAfter(PAGES / (KILLS + 1));
      instance = await startInstance({ home, port: instance.port, env });
    }
    const { counts } = await instance.waitForJob(job_id, 900_000);
    expect(counts).toMatchObject({ discovered: PAGES, crawled: PAGES, failed: 0, open: 0, documents: PAGES });
    expect(Math.max(...site.requestsByPath().values())).toBeLessThanOrEqual(KILLS + 1);
    const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
    const [captures] = await sql`select count(*)::int as captures, count(distinct url)::int as urls from captures`;
    await sql.end();
    expect(captures).toEqual({ captures: PAGES, urls: PAGES });
  } finally {
    await instance.stop();
    await site.close();
    await rm(home, { recursive: true, force: true });
  }
});
