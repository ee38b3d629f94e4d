import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import { type Instance, startInstance } from "../services/instance.ts";

const PAGES = 200;

let site: GraphSite;
let home: string;
let instance: Instance;

const start = (port?: number): Promise<Instance> =>
  startInstance({
    home,
    ...(port === undefined ? {} : { port }),
    env: { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: site.host },
  });

beforeAll(async () => {
  site = await startGraphSite(PAGES);
  home = await mkdtemp(join(tmpdir(), "strandline faults "));
  instance = await start();
});
afterAll(async () => {
  await instance.stop();
  await site.close();
  await rm(home, { recursive: true, force: true });
});

async function postgresPid(): Promise<number> {
  return Number((await readFile(join(home, "postgres", "data", "postmaster.pid"), "utf8")).split("\n")[0]);
}

it("loses no page when Postgres is killed, and its connections are cut, in the middle of a crawl", async () => {
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: PAGES,
    config: { rate_limit_rps: 100 },
  });
  await site.waitForRequests(10);
  process.kill(await postgresPid(), "SIGKILL");
  await site.waitForRequests(PAGES / 2);
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'strandline' and pid <> pg_backend_pid()`;
  const job = await instance.waitForJob(job_id);
  expect(job.counts).toMatchObject({ discovered: PAGES, crawled: PAGES, failed: 0, documents: PAGES, open: 0 });
  expect(await sql`select 1 from dead_letters`).toHaveLength(0);
  expect(Math.max(...site.requestsByPath().values())).toBe(1);
  await sql.end();
});

/** Less than what fetch reserves at a time: 50 slots of a second each. */
const BEFORE_ITS_SLOTS_MS = 40_000;

it("goes on with a slow host within seconds of a kill, though a minute of its slots was reserved", async () => {
  const asked = () => [...site.requestsByPath().values()].reduce((sum, requests) => sum + requests, 0);
  const before = asked();
  await instance.call("POST", "/api/v1/crawl", {
    urls: Array.from({ length: 60 }, (_, page) => `${site.url}p/${page + 1}`),
    config: { rate_limit_rps: 1 },
    cache: "bypass",
  });
  await expect.poll(asked).toBeGreaterThan(before + 1);
  for (let kill = 0; kill < 2; kill += 1) {
    await instance.kill();
    const then = asked();
    instance = await start(instance.port);
    await expect.poll(asked, { timeout: BEFORE_ITS_SLOTS_MS }).toBeGreaterThan(then);
  }
});
