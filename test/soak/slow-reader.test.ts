import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { json, ndjson, spiderOf } from "../e2e/spider/spider-setup.ts";
import { startInstance } from "../services/instance.ts";
import { startLargeSite } from "../sites/large-site.ts";

const PAGES = 1_000;
const PAGE_BYTES = 40_000;
const MB = 1024 * 1024;
/** Far below what the stream holds in all. */
const MOST_GROWTH = 40 * MB;

/** Resident memory in bytes of the process with all its threads. */
async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

it("a slow reader of 1,000 pages loses none, and their memory is not held for it", async () => {
  const site = await startLargeSite({ pages: PAGES, pageBytes: PAGE_BYTES });
  const instance = await startInstance({
    env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: site.hosts.join(",") },
  });
  const spider = spiderOf(instance);
  try {
    const body = { seed_urls: [`${site.main.origin}/page/0`], max_depth: 50, max_pages: PAGES };
    const { job_id } = await json(await spider.crawl("result_mode=store", body));
    await instance.waitForJob(job_id, 900_000, 500);
    const pid = instance.child.process.pid ?? 0;
    const read = async (pauseMs: (page: number) => number) => {
      let bytes = 0;
      let most = 0;
      const urls: string[] = [];
      for await (const { type, data } of ndjson(await spider.get(`/jobs/${job_id}/stream`))) {
        if (type !== "page") continue;
        urls.push(data.url);
        bytes += data.content.length + data.markdown.length;
        if (urls.length % 50 !== 0) continue;
        await delay(pauseMs(urls.length));
        most = Math.max(most, await residentMemory(pid));
      }
      return { urls, bytes, most };
    };
    const fast = await read(() => 0);
    // at first it reads nothing for a while, then little at a time
    const slow = await read((page) => (page === 100 ? 3_000 : 150));
    expect(new Set(slow.urls).size).toBe(PAGES);
    expect(slow.urls).toEqual(fast.urls);
    const growth = slow.most - fast.most;
    console.info(
      `streamed ${Math.round(slow.bytes / MB)} MB; resident memory ${Math.round(fast.most / MB)} MB at full speed, ${Math.round(slow.most / MB)} MB to a slow reader`,
    );
    expect(slow.bytes).toBeGreaterThan(50 * MB);
    expect(growth).toBeLessThan(MOST_GROWTH);
  } finally {
    await instance.stop();
    await site.close();
  }
});
