/** The client against a whole runtime, through a proxy that injects faults. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Client, createClient } from "../../../client/src/index.ts";
import { type Instance, startInstance } from "../../services/instance.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type FaultyProxy, faultyProxy } from "./faulty-proxy.ts";

let instance: Instance;
let site: Site;
let proxy: FaultyProxy;
let client: Client;
const pages = ["a", "b", "c", "d", "e"];
beforeAll(async () => {
  const links = pages.map((name) => `<a href="/${name}">${name}</a>`).join("");
  site = await startSite({
    "/": html(`<h1>Tides</h1><p>About the tides of the wide harbour.</p>${links}`),
    ...Object.fromEntries(pages.map((name) => [`/${name}`, html(`<h1>${name}</h1><p>The tide of ${name}.</p>`)])),
  });
  instance = await startInstance({
    env: { ACCESS__ALLOW_HOSTS: "127.0.0.1", RATE_LIMIT__DEFAULT_RPS: "100", RATE_LIMIT__API_RPM: "100000" },
  });
  proxy = await faultyProxy(instance.url);
  client = createClient({ url: proxy.url, apiKey: instance.apiKey });
});
afterAll(async () => {
  await proxy?.close();
  await instance?.stop();
  await site?.close();
});
beforeEach(() => {
  proxy.faults.length = 0;
  proxy.seen.length = 0;
});

const jobs = async (): Promise<number> => {
  let count = 0;
  for await (const _ of client.items("listJobs", { query: { limit: 1 } })) count += 1;
  return count;
};

it.each([["lost"], ["twice"], ["429"], ["503"]] as const)("starts one job where the request is %s", async (fault) => {
  const before = await jobs();
  proxy.faults.push(fault);
  const { job_id } = await client.call("crawlPages", { body: { url: `${site.origin}/` } });
  const job = await client.waitForJob(job_id, { pollMs: 100 });
  expect(job).toMatchObject({ job_id, status: "completed" });
  expect(await jobs()).toBe(before + 1);
});

it("follows a crawl whose streams are cut, and sees each page once", async () => {
  const { job_id } = await client.call("crawlSite", { body: { url: `${site.origin}/` } });
  await client.waitForJob(job_id, { pollMs: 100 });
  const read = async (): Promise<string[]> => {
    const urls: string[] = [];
    const stream = client.events("streamJobPages", { path: { job_id } });
    for await (const record of stream) if (record.type === "page") urls.push(record.data.url);
    return urls;
  };
  const whole = await read();
  expect(whole).toHaveLength(pages.length + 1);
  proxy.faults.push("503", 400, "lost", 900, "429", 700);
  expect(await read()).toEqual(whole);
  expect(proxy.seen.some(({ headers }) => headers["last-event-id"] !== undefined)).toBe(true);
});

it("reads a list page by page, through answers that are lost", async () => {
  const { job_id } = await client.call("crawlSite", { body: { url: `${site.origin}/` } });
  await client.waitForJob(job_id, { pollMs: 100 });
  proxy.faults.push("lost", "429", 10);
  const ids = new Set<string>();
  for await (const { id } of client.items("listDocuments", { query: { limit: 2 } })) ids.add(id);
  expect(ids.size).toBe(pages.length + 1);
});

it("says what the API says of an error", async () => {
  const refused = createClient({ url: proxy.url, apiKey: `sl_${"x".repeat(43)}` });
  await expect(refused.call("listJobs")).rejects.toMatchObject({ status: 401, code: "AUTH_REQUIRED" });
  const blocked = client.call("crawlPages", { body: { url: "http://10.0.0.1/" } });
  await expect(blocked).rejects.toMatchObject({ code: "URL_BLOCKED", requestId: expect.any(String) });
});

it("starts nothing a second time with a key that was used", async () => {
  const body = { url: `${site.origin}/a` };
  const options = { idempotencyKey: "the-first" };
  const first = await client.call("crawlPages", { body }, options);
  expect(await client.call("crawlPages", { body }, options)).toEqual(first);
  const other = client.call("crawlPages", { body: { url: `${site.origin}/b` } }, options);
  await expect(other).rejects.toMatchObject({ status: 409 });
});
