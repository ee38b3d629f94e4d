import { afterAll, beforeAll, expect, it } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../services/embedding-server.ts";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { type Instance, startInstance } from "../services/instance.ts";

const PAGES = 40;
/** That many readers, each of whom asks again as soon as it is answered. */
const READERS = 4;

let site: GraphSite;
let embedder: EmbeddingServer;
let instance: Instance;

beforeAll(async () => {
  site = await startGraphSite(PAGES);
  embedder = await startEmbeddingServer();
  instance = await startInstance({ env: { ACCESS__ALLOW_HOSTS: site.host, ...embedder.env } });
});
afterAll(async () => {
  await instance.stop();
  await site.close();
  embedder.close();
});

async function startCrawl(): Promise<string> {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: 500 },
  });
  return job_id;
}

interface SearchAnswer {
  results: { content: string }[];
}

it("answers from one generation or the other, never from both and never from none, while a recrawl swaps them", async () => {
  await instance.waitForJob(await startCrawl());
  const { key } = await instance.call<{ key: string }>("POST", "/api/v1/api-keys", {
    name: "reader",
    scopes: ["read"],
    rate_limit_rpm: 100_000,
  });
  site.setEdition("second");

  const editionsSeen: string[] = [];
  const search = async (): Promise<void> => {
    const response = await fetch(`${instance.url}/api/v1/search`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: "which edition speaks of lighthouses and the harbour wall", limit: 20 }),
    });
    expect(response.status).toBe(200);
    const { results } = (await response.json()) as SearchAnswer;
    expect(results.length).toBeGreaterThan(0);
    const editions = new Set(results.map(({ content }) => /the (first|second) edition/.exec(content)?.[1]));
    expect([...editions]).toHaveLength(1);
    editionsSeen.push([...editions][0] as string);
  };

  const job = startCrawl();
  let recrawlEnded = false;
  const recrawl = job
    .then((jobId) => instance.waitForJob(jobId))
    .finally(() => {
      recrawlEnded = true;
    });
  const readOn = async (): Promise<void> => {
    while (!recrawlEnded) await search();
  };
  await search();
  await Promise.all([recrawl, ...Array.from({ length: READERS }, readOn)]);
  await search();

  expect(editionsSeen).toContain("first");
  expect(editionsSeen.at(-1)).toBe("second");
});
