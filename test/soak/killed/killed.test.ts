/** A runtime whose database is killed, and that is killed itself, twice, in the middle of all that it does. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Harvest, startHarvest } from "../../e2e/harvest-setup.ts";
import { startGraphSite } from "../../services/graph-site.ts";
import { type Instance, startInstance } from "../../services/instance.ts";
import {
  type BeginWork,
  crawlHalfWay,
  crawlOfSlowHost,
  discovery,
  followedCrawl,
  searchRunAsking,
  type UnfinishedWork,
} from "./unfinished-work.ts";

let harvest: Harvest;
let instance: Instance;
beforeAll(async () => {
  harvest = await startHarvest({
    RATE_LIMIT__API_RPM: "100000",
    RATE_LIMIT__DEFAULT_RPS: "1000",
    // while a site holds its answers
    FETCH__HEADERS_TIMEOUT_MS: "200000",
  });
  instance = harvest.instance;
});
afterAll(async () => {
  await instance?.stop();
  await harvest?.stop();
});

it("loses no page when Postgres is killed, and its connections are cut, in the middle of a crawl", async () => {
  const pages = 200;
  const site = await startGraphSite(pages);
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", {
    url: site.url,
    max_depth: 50,
    max_pages: pages,
    config: { rate_limit_rps: 100 },
  });
  await site.waitForRequests(10);
  const pidFile = await readFile(join(instance.home, "postgres", "data", "postmaster.pid"), "utf8");
  process.kill(Number(pidFile.split("\n")[0]), "SIGKILL");
  await site.waitForRequests(pages / 2);
  const sql = postgres(instance.postgresUrl, { max: 1, onnotice: () => {} });
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'strandline' and pid <> pg_backend_pid()`;
  const job = await instance.waitForJob(job_id);
  expect(job.counts).toMatchObject({ discovered: pages, crawled: pages, failed: 0, documents: pages, open: 0 });
  expect(await sql`select 1 from dead_letters`).toHaveLength(0);
  expect(Math.max(...site.requestsByPath().values())).toBe(1);
  await sql.end();
  await site.close();
});

const begun = new Map<BeginWork, UnfinishedWork>();

/** Kills the runtime while all of this is under way and starts it again; what was under way before goes on. */
function isKilledDuring(works: readonly (readonly [name: string, begin: BeginWork])[]): void {
  it("all of it is under way when the kill comes, and the runtime starts again", async () => {
    for (const [, begin] of works) begun.set(begin, begun.get(begin) ?? (await begin(harvest)));
    await instance.kill();
    for (const [, begin] of works) await begun.get(begin)?.afterKill();
    instance = await startInstance({ home: instance.home, port: instance.port, env: harvest.env });
  });
  it.each(works)("%s", async (_name, begin) => {
    const work = begun.get(begin) ?? expect.fail("it was not begun");
    await work.afterRestart(instance);
  });
}

const slowHost = [
  "it goes on with a slow host within seconds, though a minute of its slots was reserved",
  crawlOfSlowHost,
] as const;
const run = (whom: Parameters<typeof searchRunAsking>[0]) =>
  [
    `a run in which ${whom} was asked leaves nothing half stored, and nobody is asked once more`,
    searchRunAsking(whom),
  ] as const;

describe("after a kill -9 and a restart", () => {
  isKilledDuring([
    slowHost,
    ["a crawl ends by itself: each URL once, nothing twice, nothing fetched more than twice", crawlHalfWay],
    ["a discovery goes on", discovery],
    ["listeners and messages that are left do no harm, and those who come again are told", followedCrawl],
    run("the model"),
  ]);
});

describe("after another kill -9 and a restart", () => isKilledDuring([slowHost, run("a provider")]));
