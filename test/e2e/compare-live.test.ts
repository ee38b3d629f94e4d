/** A crowd that compares one snapshot with its live page, on a whole instance: over HTTP, each with a connection. */
import { execFileSync } from "node:child_process";
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Instance, startInstance } from "../services/instance.ts";
import { html, type Site, startSite } from "../sites/site.ts";

const CROWD = 500;
/** The most that the instance may grow by, in MB: a request of the crowd that were worked on takes some. */
const GROWTH_MB = 400;

let site: Site;
let instance: Instance;

beforeAll(async () => {
  site = await startSite({
    "/page": html(`<!doctype html><title>Guide</title><main><p>${"Twice a day. ".repeat(40)}`),
  });
  const env = { EMBEDDER__PROVIDER: "none", ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "1000" };
  instance = await startInstance({ env });
}, 240_000);
afterAll(async () => {
  await instance.stop();
  await site.close();
});

interface Told {
  status: number | undefined;
  retryAfter: string | undefined;
}

function compare(agent: Agent, id: number): Promise<Told> {
  return new Promise((resolve, reject) => {
    const asked = request(`${instance.url}/api/snapshots/${id}/compare-live`, { agent }, (response) => {
      response.resume().once("end", () => {
        resolve({ status: response.statusCode, retryAfter: response.headers["retry-after"] });
      });
    });
    asked.once("error", reject).end();
  });
}

const memoryMb = (): number =>
  Number(execFileSync("ps", ["-o", "rss=", "-p", String(instance.child.process.pid)], { encoding: "utf8" })) / 1024;

it("lets four of 500 at once through to the site, and tells the others when to come again", async () => {
  const url = `${site.origin}/page`;
  const { job_id: jobId } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl", { url });
  await instance.waitForJob(jobId);
  const list = await fetch(`${instance.url}/api/exports/snapshots?format=jsonl&compressed=false`);
  const [first = ""] = (await list.text()).split("\n");
  const { snapshot_id: id } = JSON.parse(first) as { snapshot_id: number };
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const fetches = { now: 0, most: 0, all: 0 };
  site.route({
    "/page": (request) => {
      fetches.all++;
      fetches.most = Math.max(fetches.most, ++fetches.now);
      request.once("close", () => fetches.now--);
      return { ...html("<title>Guide</title><p>Once a day."), after: released };
    },
  });
  const before = memoryMb();
  const told: Told[] = [];
  const agent = new Agent({ maxSockets: CROWD });
  const crowd = Array.from({ length: CROWD }, async () => told.push(await compare(agent, id)));
  await expect.poll(() => fetches.now, { timeout: 60_000 }).toBe(4);
  await expect.poll(() => told.length, { timeout: 60_000 }).toBeGreaterThan(CROWD / 2);
  release();
  await Promise.all(crowd);
  agent.destroy();
  const growth = memoryMb() - before;
  const refused = told.filter(({ status }) => status === 429);
  expect(refused.filter(({ retryAfter }) => !(Number(retryAfter) > 0))).toEqual([]);
  const compared = told.filter(({ status }) => status === 200);
  expect(told.filter(({ status }) => status !== 429 && status !== 200)).toEqual([]);
  expect(compared.length).toBeGreaterThanOrEqual(4);
  expect(fetches).toMatchObject({ most: 4, all: compared.length });
  expect(growth).toBeLessThan(GROWTH_MB);
}, 240_000);
