import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { circuitOf, DEFAULT_CIRCUIT } from "../../../../shared/crawl/politeness/host-state.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { departuresTo } from "../../../services/departures.ts";
import { fastClock } from "../../../services/fast-clock.ts";
import { garbage } from "../../../sites/misbehaviour.ts";
import { html, redirect, type SiteAnswer, startSite } from "../../../sites/site.ts";
import { type FetchHarness, fetchHarness, fetchTask } from "../fetch/harness.ts";

const OPEN_MS = DEFAULT_CIRCUIT.timeoutS * 1000;
const config = { respect_robots_txt: false };
const pages = (origin: string, count: number) => Array.from({ length: count }, (_, page) => `${origin}/page/${page}`);
const broken = { status: 500 };

/** The circuit of the host as five failures in a row have left it. */
async function openCircuit(harness: FetchHarness, host: string, openedAt: number, downSince = openedAt): Promise<void> {
  const Item = { pk: `host#${host}`, failures: 5, opened_at: openedAt, down_since: downSince, openings: 1 };
  await harness.aws.dynamo.send(new PutCommand({ TableName: harness.aws.stateTable, Item }));
}

describe("a host that fails again and again", () => {
  it("is left alone after five failures, and the URLs that are left wait as one message", async () => {
    await using site = await startSite({}, () => broken);
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    const captures = await harness.fetch(fetchTask({ urls: pages(site.origin, 50), config }));
    expect(captures.map(({ error }) => error?.code)).toEqual(Array.from({ length: 5 }, () => "HTTP_500"));
    expect(await harness.fetch(fetchTask({ urls: pages(site.origin, 9), config }))).toEqual([]);
    expect(site.paths()).toHaveLength(5);
    expect(harness.delayed()).toBe(2);
  });

  it("is left alone after as many failures as the deployment is set to", async () => {
    await using site = await startSite({}, () => broken);
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1", CIRCUIT_BREAKER__THRESHOLD: "2" });
    expect(await harness.fetch(fetchTask({ urls: pages(site.origin, 5), config }))).toHaveLength(2);
  });

  it("costs a job no more than the openings that it waits through, and its URLs end then", async () => {
    await using site = await startSite({}, () => broken);
    const harness = await fetchHarness();
    const now = Date.now();
    await openCircuit(harness, site.host, now - 1000, now - 1000 - 3 * OPEN_MS);
    const old = fetchTask({ urls: pages(site.origin, 9), config, jobId: uuidv7(now - 4 * OPEN_MS) });
    const ended = await harness.fetch(old);
    expect(ended.map(({ error }) => error)).toEqual(
      Array.from({ length: 9 }, () => expect.objectContaining({ code: "CIRCUIT_OPEN", retryable: false })),
    );
    // a job that has only begun waits for the host all the same
    expect(await harness.fetch(fetchTask({ urls: pages(site.origin, 9), config, jobId: uuidv7(now) }))).toEqual([]);
    expect(harness.delayed()).toBe(1);
    expect(site.paths()).toEqual([]);
  });

  it("is not waited for by a job whose time is up before it may be tried, which hears until when it is left alone", async () => {
    await using site = await startSite();
    const harness = await fetchHarness();
    const now = Date.now();
    await openCircuit(harness, site.host, now);
    const task = fetchTask({ urls: pages(site.origin, 2), config, deadline: now + 20_000 });
    const message = `${site.host} failed 5 times in a row: it is left alone until ${new Date(now + OPEN_MS).toISOString()}`;
    const error = { code: "CIRCUIT_OPEN", message, retryable: false };
    expect((await harness.fetch(task)).map((capture) => capture.error)).toEqual([error, error]);
    expect(harness.delayed()).toBe(0);
    expect(site.requests).toEqual([]);
  });

  it("is not what a few URLs make it that fail whenever they are tried again", async () => {
    await using site = await startSite({}, ({ url }) => (url?.includes("page/1") ? html("fine") : broken));
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    const mixed = fetchTask({ urls: [4, 1, 5, 6, 7, 10, 8, 9].map((page) => `${site.origin}/page/${page}`), config });
    expect((await harness.fetch(mixed)).filter(({ error }) => error === null)).toHaveLength(2);
    // at the end of a crawl only these are left
    const again = { ...mixed, urls: mixed.urls.filter(({ url }) => !url.includes("page/1")) };
    for (const attempt of [1, 2, 3]) {
      const urls = again.urls.map((url) => ({ ...url, attempt }));
      expect(await harness.fetch({ ...again, taskId: uuidv7(), urls })).toHaveLength(6);
    }
    expect(circuitOf(await harness.dependencies.hosts.read(site.host), Date.now())).toBe("closed");
  });

  it("is not what URLs make it that fail while others are answered, in tasks before and in the same", async () => {
    await using site = await startSite({}, ({ url }) => (url?.includes("good") ? html("fine") : broken));
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    const urls = (kind: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${site.origin}/${kind}/${i}`);
    await harness.fetch(fetchTask({ urls: urls("good", 12), config }));
    const bad = await harness.fetch(fetchTask({ urls: urls("bad", 8), config }));
    expect(bad.map(({ error }) => error?.code)).toEqual(Array(8).fill("HTTP_500"));
    const mixed = [...urls("better-good", 10), ...urls("worse", 7), ...urls("last-good", 2)];
    expect(await harness.fetch(fetchTask({ urls: mixed, config }))).toHaveLength(19);
    expect(circuitOf(await harness.dependencies.hosts.read(site.host), Date.now())).toBe("closed");
  });

  it("is not waited for by a job that is cancelled: its tasks end as soon as they are sent again", async () => {
    await using site = await startSite();
    const harness = await fetchHarness();
    await openCircuit(harness, site.host, Date.now());
    const task = fetchTask({ urls: pages(site.origin, 3), config });
    expect(await harness.fetch(task)).toEqual([]);
    // without a reason of its own it is a duplicate
    expect(await harness.fetch(task)).toEqual([]);
    await harness.dependencies.flags.markCancelled(task.jobId);
    const ended = await harness.fetch(task);
    expect(ended.map(({ error }) => error?.code)).toEqual(["CANCELLED", "CANCELLED", "CANCELLED"]);
    expect(await harness.fetch(task)).toEqual([]);
    expect(site.requests).toEqual([]);
  });

  it("that a redirect leads to lets that URL wait, and not the others", async () => {
    await using other = await startSite();
    await using site = await startSite({ "/page/0": redirect(`${other.origin}/`), "/page/1": html("fine") });
    const harness = await fetchHarness();
    await openCircuit(harness, other.host, Date.now());
    const [led, own] = await harness.fetch(fetchTask({ urls: pages(site.origin, 2), config }));
    expect(own?.error).toBeNull();
    expect(led?.error).toMatchObject({ code: "CIRCUIT_OPEN", retryable: true });
    expect(led?.error?.retryAfterMs).toBeGreaterThan(OPEN_MS - 20_000);
    expect(other.requests).toEqual([]);
  });
});

describe("a host that may be tried again", () => {
  const slowly = (answer: SiteAnswer) => () => ({ ...answer, delayMs: 400 });
  const tasksOf = (origin: string) =>
    Array.from({ length: 6 }, () => fetchTask({ urls: pages(origin, 8), config, jobId: uuidv7() }));

  it("gets exactly one request, by however many workers and jobs it is awaited", async () => {
    await using site = await startSite({}, slowly(broken));
    const harness = await fetchHarness();
    await openCircuit(harness, site.host, Date.now() - OPEN_MS);
    await Promise.all(tasksOf(site.origin).map((task) => harness.deliver(task)));
    expect(site.paths()).toHaveLength(1);
    expect(await harness.captures()).toHaveLength(1);
    expect(harness.delayed()).toBe(6);
    expect(circuitOf(await harness.dependencies.hosts.read(site.host), Date.now())).toBe("open");
  });

  it("is asked by all again once that request was answered", async () => {
    await using site = await startSite({}, slowly(html("fine")));
    const harness = await fetchHarness();
    await openCircuit(harness, site.host, Date.now() - OPEN_MS);
    await harness.deliver(fetchTask({ urls: pages(site.origin, 8), config }));
    expect(await harness.captures()).toHaveLength(8);
    expect(await harness.dependencies.hosts.read(site.host)).toMatchObject({
      failures: 0,
      opened_at: 0,
      down_since: 0,
    });
  });

  it("is tried with a URL that has not failed, if there is one", async () => {
    await using site = await startSite({}, ({ url }) => (url?.includes("page/2") ? html("fine") : broken));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 3), config });
    const retried = task.urls.map((url) => ({ ...url, attempt: url.url.includes("page/2") ? 0 : 1 }));
    await openCircuit(harness, site.host, Date.now() - OPEN_MS);
    // those of another task leave the first go to it
    expect(await harness.fetch({ ...task, taskId: uuidv7(), urls: retried.slice(0, 2) })).toEqual([]);
    expect(site.paths()).toEqual([]);
    expect(await harness.fetch({ ...task, taskId: uuidv7(), urls: retried })).toHaveLength(3);
    expect(site.paths()[0]).toBe("/page/2");
    expect(circuitOf(await harness.dependencies.hosts.read(site.host), Date.now())).toBe("closed");
  });

  it("is tried with one that has failed where no other comes", async () => {
    await using site = await startSite({}, () => html("fine"));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 1), config });
    await openCircuit(harness, site.host, Date.now() - OPEN_MS - 30_000);
    const urls = task.urls.map((url) => ({ ...url, attempt: 1 }));
    expect(await harness.fetch({ ...task, urls })).toHaveLength(1);
  });

  it("keeps the probe free for others where a worker had to give it up", async () => {
    await using site = await startSite({}, () => html("fine"));
    const harness = await fetchHarness();
    await openCircuit(harness, site.host, Date.now() - OPEN_MS);
    await harness.dependencies.hosts.hold(site.host, Date.now() + 60_000);
    expect(await harness.fetch(fetchTask({ urls: pages(site.origin, 1), config }))).toEqual([]);
    expect((await harness.dependencies.hosts.read(site.host)).probe_until).toBe(0);
  });

  it("is not taken for a healthy one because what it says is no HTTP, which is not tried again", async () => {
    await using site = await startSite({}, garbage);
    const harness = await fetchHarness();
    await openCircuit(harness, site.host, Date.now() - OPEN_MS);
    const [capture] = await harness.fetch(fetchTask({ urls: pages(site.origin, 1), config }));
    expect(capture?.error).toMatchObject({ code: "INVALID_RESPONSE", retryable: false });
    expect(circuitOf(await harness.dependencies.hosts.read(site.host), Date.now())).toBe("open");
  });
});

describe("a host that is blocked meanwhile", () => {
  const settings = { rate_limit_rps: undefined, circuit_threshold: undefined, circuit_timeout_s: undefined };

  it("gets no request later than two seconds after, and the URLs that are left end as skipped", async () => {
    const blockOne = async (): Promise<number> => {
      await using site = await startSite({}, () => html("fine"));
      const departures = departuresTo(site.origin);
      const harness = await fetchHarness();
      const { hosts } = harness.dependencies;
      const { read } = hosts;
      let seenAt = Number.POSITIVE_INFINITY;
      hosts.read = async (host) => {
        const state = await read(host);
        if (state.blocked) seenAt = Math.min(seenAt, Date.now());
        return state;
      };
      const running = harness.deliver(
        fetchTask({ urls: pages(site.origin, 50), config: { ...config, rate_limit_rps: 5 } }),
      );
      await expect.poll(() => site.paths().length).toBeGreaterThan(3);
      const blockedAt = Date.now();
      await hosts.applySettings(site.host, { ...settings, blocked: true }, 1);
      await running;
      const captures = await harness.captures();
      expect(captures).toHaveLength(50);
      const codes = Map.groupBy(captures, ({ error }) => error?.code ?? null);
      expect(codes.get(null)).toHaveLength(site.paths().length);
      expect(codes.get("DOMAIN_BLOCKED")).toHaveLength(50 - site.paths().length);
      // what was on its way when the worker heard of it may still leave
      expect(departures.filter(({ at }) => at > seenAt).length).toBeLessThanOrEqual(1);
      return Math.max(...departures.map(({ at }) => at)) - blockedAt;
    };
    // where the machine stalls meanwhile, another time shows it
    await expect.poll(blockOne).toBeLessThan(2000);
  });

  it("does not get the request either that waited for its slot", async () => {
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" }, fastClock());
    let blocking = Promise.resolve();
    await using site = await startSite({}, () => {
      blocking = harness.dependencies.hosts.applySettings(site.host, { ...settings, blocked: true }, 1);
      return html("fine");
    });
    await harness.deliver(fetchTask({ urls: pages(site.origin, 3), config: { ...config, rate_limit_rps: 0.6 } }));
    await blocking;
    expect(site.paths()).toHaveLength(1);
  });
});
