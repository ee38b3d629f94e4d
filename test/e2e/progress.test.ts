/** The progress of jobs, as those hear of it who listen: over WebSockets and as server-sent events. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GraphSite, startGraphSite } from "../services/graph-site.ts";
import type { RunningInstance } from "../services/instance.ts";
import { type Listener, listen, readEvents, statusOf } from "../services/listeners.ts";
import { sharedRuntime } from "../services/shared-runtime.ts";
import { slowness } from "../services/slowness.ts";
import { listenersAreTold, openStream, PAGES, startCrawl } from "./followed-crawls.ts";

let site: GraphSite;
let instance: RunningInstance;
beforeAll(async () => {
  site = await startGraphSite(PAGES);
  instance = await sharedRuntime();
});
afterAll(() => site.close());

describe("where queues deliver each message once", () => listenersAreTold(() => ({ instance, site })));

describe("at the door", () => {
  let jobId: string;
  let open: (options: Parameters<typeof listen>[2]) => Promise<Listener>;
  beforeAll(async () => {
    jobId = await startCrawl(instance, site, 1000);
    await instance.waitForJob(jobId);
    open = (options) => listen(instance.url, jobId, options);
  });

  it("refuses whoever brings no valid key, and takes none from the URL", async () => {
    const made = await instance.call<{ id: string; key: string }>("POST", "/api/v1/api-keys", {
      name: "to be revoked",
      scopes: ["read"],
    });
    const { socket } = await open({ key: made.key });
    socket.terminate();
    await instance.call("DELETE", `/api/v1/api-keys/${made.id}`);
    const path = `/api/v1/ws/crawl/${jobId}?api_key=${instance.apiKey}`;
    for (const options of [{}, { key: "sl_wrong" }, { key: made.key }, { path }]) {
      expect(await statusOf(open(options))).toBe(401);
    }
  });

  it("refuses whoever asks for no job that there is", async () => {
    const key = instance.apiKey;
    const status = (path: string) => statusOf(open({ key, path }));
    expect(await status("/")).toBe(400);
    expect(await status("/?job_id=42")).toBe(404);
    expect(await status(`/api/v1/ws/crawl/${crypto.randomUUID()}`)).toBe(404);
    expect(await status("/elsewhere")).toBe(404);
    const unknown = await openStream(instance, crypto.randomUUID());
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
    expect((await fetch(`${instance.url}/api/v1/crawl/${jobId}/stream`)).status).toBe(401);
  });

  it("takes the key of a browser from the subprotocols, and repeats only the name of its own", async () => {
    const { socket, closed, events } = await open({ protocols: [`strandline.key.${instance.apiKey}`, "strandline"] });
    expect(socket.protocol).toBe("strandline");
    expect(await closed).toBe(1000);
    expect(events.map(({ type }) => type)).toEqual(["completed"]);
    expect(await statusOf(open({ protocols: ["strandline.key.wrong", "strandline"] }))).toBe(401);
  });

  it("also takes the job from the query, as it must on AWS", async () => {
    const { closed, events } = await open({ key: instance.apiKey, path: `/?job_id=${jobId}` });
    await closed;
    expect(events.map(({ type, data }) => [type, data.job_id])).toEqual([["completed", jobId]]);
  });

  it("answers pings, and no other message", async () => {
    const running = await startCrawl(instance, site, 2);
    const { socket, events } = await listen(instance.url, running, { key: instance.apiKey });
    for (const message of ["nonsense", '{"type":"other"}', "[", "ping", '{"type":"ping"}']) socket.send(message);
    const pongs = () => events.filter(({ type }) => type === "pong").length;
    await expect.poll(pongs).toBe(2);
    expect(events.filter(({ type }) => type !== "pong" && type !== "progress")).toEqual([]);
    await instance.call("POST", `/api/v1/crawl/${running}/cancel`);
  });

  it("stops telling those whose key is revoked, within five seconds, and nobody else", async () => {
    const made = await instance.call<{ id: string; key: string }>("POST", "/api/v1/api-keys", {
      name: "to be revoked",
      scopes: ["read"],
    });
    const running = await startCrawl(instance, site, 2);
    const headers = { authorization: `Bearer ${made.key}` };
    const paths = [`/api/v1/crawl/${running}/stream`, `/jobs/${running}/stream`];
    const streams = await Promise.all(paths.map((path) => fetch(instance.url + path, { headers })));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const ends = streams.map((each) =>
      each.text().then(
        () => "whole",
        () => "cut",
      ),
    );
    const { closed } = await listen(instance.url, running, { key: made.key });
    const other = await listen(instance.url, running, { key: instance.apiKey });
    await expect.poll(() => other.events.length).toBeGreaterThan(0);
    await instance.call("DELETE", `/api/v1/api-keys/${made.id}`);
    const revokedAt = performance.now();
    expect(await Promise.all([...ends, closed])).toEqual(["cut", "cut", 1000]);
    expect(performance.now() - revokedAt).toBeLessThan(5_000 * slowness());
    expect(other.socket.readyState).toBe(other.socket.OPEN);
    await instance.call("POST", `/api/v1/crawl/${running}/cancel`);
  });

  it("goes on with a job whose listeners leave", async () => {
    const running = await startCrawl(instance, site, 40);
    const { socket, events } = await listen(instance.url, running, { key: instance.apiKey });
    const stream = await openStream(instance, running);
    await readEvents(stream, (read) => read.length > 0);
    await expect.poll(() => events.length).toBeGreaterThan(0);
    socket.terminate();
    const job = await instance.waitForJob(running);
    expect(job.counts).toMatchObject({ crawled: PAGES });
  });
});
