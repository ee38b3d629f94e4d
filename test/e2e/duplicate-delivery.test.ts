/**
 * Every kind of crawl, with every message delivered twice and at once: what is left is the same as with single
 * deliveries.
 */
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../services/embedding-server.ts";
import { startInstance } from "../services/instance.ts";
import { type LargeSite, startLargeSite } from "../sites/large-site.ts";

const PAGES = 24;
/** As many as it takes until a calendar without end is left. */
const CALENDAR_PAGES = 80;

let site: LargeSite;
let embedder: EmbeddingServer;
beforeAll(async () => {
  site = await startLargeSite({ pages: PAGES });
  embedder = await startEmbeddingServer();
});
afterAll(async () => {
  await site.close();
  embedder.close();
});

const RATE = { config: { rate_limit_rps: 200 } };
const seed = () => `${site.main.origin}/page/0`;
const whole = () => ({ max_depth: 50, max_pages: 2 * PAGES, ...RATE });
const given = () => ({
  urls: Array.from({ length: PAGES / 2 }, (_, page) => `${site.main.origin}/page/${page}`),
  ...RATE,
});

/** One after the other, since the later ones use again, or compare with, what the earlier ones captured. */
const JOBS: [path: string, body: () => Record<string, unknown>][] = [
  ["/api/v1/crawl/deep", () => ({ url: seed(), ...whole() })],
  ["/api/v1/crawl/deep", () => ({ url: seed(), strategy: "dfs", max_pages_per_host: 15, ...whole() })],
  [
    "/api/v1/crawl/deep",
    () => ({ url: seed(), strategy: "best_first", keywords: ["page"], score_threshold: 0, ...whole() }),
  ],
  // before any job replaces what they use again
  ["/api/v1/crawl", () => ({ cache: "use", ...given() })],
  ["/api/v1/crawl", () => ({ cache: "bypass", ...given() })],
  // one at a time, so that the order in which traps are seen is the same
  [
    "/api/v1/crawl/deep",
    () => ({
      url: `${site.main.origin}/calendar/2024/01`,
      strategy: "dfs",
      ...whole(),
      max_depth: 200,
      max_pages: CALENDAR_PAGES,
    }),
  ],
  [
    "/api/v1/crawl/deep",
    () => ({ url: `${site.main.origin}/app`, max_depth: 1, config: { ...RATE.config, render: "auto" } }),
  ],
];

/** What they leave in the database, without ids and times. */
async function crawlAndReadTables(env: Record<string, string>) {
  const instance = await startInstance({
    env: {
      ...embedder.env,
      ACCESS__ALLOW_HOSTS: site.hosts.join(","),
      RATE_LIMIT__DEFAULT_RPS: "500",
      ...env,
    },
  });
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  // after each job, since generations that were replaced are removed at leisure
  const searched: { documents: postgres.Row[]; chunks: postgres.Row[] }[] = [];
  try {
    for (const [path, body] of JOBS) {
      const { job_id } = await instance.call<{ job_id: string }>("POST", path, body());
      await instance.waitForJob(job_id);
      searched.push({
        documents: await sql`select url, title, encode(content_hash, 'hex') as hash, sections
          from documents where generation_active order by url`,
        chunks: await sql`select d.url, c.chunk_index, encode(c.content_hash, 'hex') as hash, e.state as embedding
          from chunks c join embeddings e on e.chunk_id = c.id join documents d on d.id = c.document_id
          where d.generation_active order by 1, 2`,
      });
    }
    // jobs by the order in which they were taken
    const nth = sql`(select rank() over (order by id) as nth, id from jobs)`;
    return {
      jobs: await sql`select kind, status, stop_reason, discovered, open_urls, crawled, failed, skipped, claimed, results,
        documents, chunks from jobs order by id`,
      gaps: await sql`select j.id from jobs j where j.results <> (select count(*) from frontier f where f.job_id = j.id
        and f.result_seq between 1 and j.results)`,
      frontier:
        await sql`select j.nth, url, depth, state, error_code, attempt from frontier f join ${nth} j on j.id = f.job_id
        order by 1, 2`,
      captures: await sql`select j.nth, url, status_code, payload_digest, error_code, reused_from is not null as reused,
        revisit_of is not null as revisit, rendered->>'reason' as reason, rendered->'error' as render_error,
        rendered->'warc' is not null as dom from captures c join ${nth} j on j.id = c.job_id order by 1, 2`,
      searched,
      domains: await sql`select domain, crawled, failed, skipped, retried, reused from domain_counts order by domain`,
      // how often an embedding is looked up depends on which delivery is first
      cache: await sql`select cache, hits, misses from cache_counts where cache <> 'embeddings' order by cache`,
      counts: await sql`select * from crawl_counts`,
      letters: await sql`select queue, state from dead_letters`,
    };
  } finally {
    await sql.end();
    await instance.stop();
  }
}

it("strategies, budgets, traps, cached and unmodified pages, rendering: twice delivered, once done", async () => {
  const [once, twice] = await Promise.all([
    crawlAndReadTables({}),
    crawlAndReadTables({ STRANDLINE_DELIVER_TWICE: "1" }),
  ]);
  expect(once.gaps).toEqual([]);
  expect(once.counts).toEqual([]);
  for (const { documents, chunks } of once.searched) {
    expect(documents.length).toBeGreaterThan(0);
    expect(chunks.length).toBeGreaterThanOrEqual(documents.length);
    expect(new Set(chunks.map((chunk) => chunk["embedding"]))).toEqual(new Set(["done"]));
  }
  expect(once.captures.filter(({ reused }) => reused)).toHaveLength(PAGES / 2);
  expect(once.captures.some(({ revisit }) => revisit)).toBe(true);
  expect(once.captures.some(({ dom }) => dom)).toBe(true);
  expect(once.frontier.some(({ error_code }) => String(error_code).includes("TRAP"))).toBe(true);
  expect(twice).toEqual(once);
});
