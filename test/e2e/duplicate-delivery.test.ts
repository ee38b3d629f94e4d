import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { startInstance } from "../services/instance.ts";

const PAGES = 60;

let site: GraphSite;

beforeAll(async () => {
  site = await startGraphSite(PAGES);
});
afterAll(async () => {
  await site.close();
});

/** What a crawl leaves in the database, without ids and times. */
async function crawlAndReadTables(env: Record<string, string>) {
  const instance = await startInstance({ env: { ACCESS__ALLOW_HOSTS: site.host, ...env } });
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  try {
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
      url: site.url,
      max_depth: 50,
      max_pages: PAGES + 10,
      config: { rate_limit_rps: 500 },
    });
    const job = await instance.waitForJob(job_id);
    return {
      counts: job.counts,
      frontier: await sql`select url, depth, state, error_code from frontier order by url`,
      captures: await sql`select url, status_code, payload_digest, error_code from captures order by url`,
      documents: await sql`select url, title, encode(content_hash, 'hex') as hash, sections, generation_active
        from documents order by url`,
      chunks: await sql`select d.url, c.chunk_index, encode(c.content_hash, 'hex') as hash, e.state as embedding
        from chunks c join embeddings e on e.chunk_id = c.id join documents d on d.id = c.document_id order by 1, 2`,
    };
  } finally {
    await sql.end();
    await instance.stop();
  }
}

it("leaves identical tables when every queue delivers every message twice", async () => {
  const [once, twice] = await Promise.all([
    crawlAndReadTables({}),
    crawlAndReadTables({ STRANDLINE_DELIVER_TWICE: "1" }),
  ]);
  expect(once.documents).toHaveLength(PAGES);
  expect(once.chunks.every((chunk) => chunk["embedding"] === "done")).toBe(true);
  expect(twice).toEqual(once);
});
