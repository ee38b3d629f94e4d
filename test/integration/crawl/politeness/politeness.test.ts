import { randomUUID } from "node:crypto";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../../shared/platform/clock.ts";
import { departuresTo } from "../../../services/departures.ts";
import { fastClock } from "../../../services/fast-clock.ts";
import { silence } from "../../../sites/misbehaviour.ts";
import { pageGraph } from "../../../sites/page-graph.ts";
import { html, type Route, redirect, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "../fetch/harness.ts";

const pages = (origin: string, count: number) => Array.from({ length: count }, (_, page) => `${origin}/page/${page}`);
const graph = (count: number) => pageGraph({ pages: count, linksPerPage: 2, pageBytes: 500 });

/** The most requests that left within any second. */
function busiestSecond(departures: readonly { at: number }[]): number {
  const times = departures.map(({ at }) => at).sort((a, b) => a - b);
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 1000).length));
}

describe("the rate of a host", () => {
  it("is never exceeded, with redirects, robots.txt and two tasks at once", async () => {
    const routes: Record<string, Route> = { ...graph(20), "/r/0": redirect("/r/1"), "/r/1": redirect("/page/3") };
    await using site = await startSite(routes);
    const departures = departuresTo(site.origin);
    const harness = await fetchHarness();
    const config = { rate_limit_rps: 20 };
    await Promise.all([
      harness.deliver(fetchTask({ urls: [...pages(site.origin, 15), `${site.origin}/r/0`], config })),
      harness.deliver(fetchTask({ urls: pages(site.origin, 12), config })),
    ]);
    expect(await harness.captures()).toHaveLength(28);
    expect(departures).toHaveLength(site.requests.length);
    expect(busiestSecond(departures)).toBeLessThanOrEqual(20);
  });

  it("is reached where nothing is in the way", async () => {
    await using site = await startSite(graph(40));
    const departures = departuresTo(site.origin);
    const harness = await fetchHarness();
    // where the machine itself is in the way, another time shows it
    await expect
      .poll(async () => {
        const started = Date.now();
        await harness.deliver(fetchTask({ urls: pages(site.origin, 40), config: { rate_limit_rps: 20 } }));
        return Date.now() - started;
      })
      .toBeLessThan(4500);
    expect(busiestSecond(departures)).toBeLessThanOrEqual(20);
  });

  it("high enough lets requests overlap, up to the concurrency of a task", async () => {
    let open = 0;
    let most = 0;
    const overlapping = Promise.withResolvers<void>();
    // nobody is answered before several ask at once
    const slow: Route = {
      async raw(socket) {
        open += 1;
        most = Math.max(most, open);
        if (open > 3) overlapping.resolve();
        await overlapping.promise;
        open -= 1;
        socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx");
      },
    };
    await using site = await startSite(
      Object.fromEntries(Array.from({ length: 24 }, (_, page) => [`/page/${page}`, slow])),
    );
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "6" });
    await harness.deliver(fetchTask({ urls: pages(site.origin, 24) }));
    expect(await harness.captures()).toHaveLength(24);
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(6);
  });

  it("is kept, and the pages come, by workers that wake up later than any slot may be missed", async () => {
    await using site = await startSite(graph(30));
    const departures = departuresTo(site.origin);
    const late: Clock = {
      now: systemClock.now,
      sleep: async (ms, signal) => await systemClock.sleep(ms + 400, signal),
    };
    const harness = await fetchHarness({}, late);
    const config = { rate_limit_rps: 20, respect_robots_txt: false };
    const all = pages(site.origin, 30);
    const crawl = async (urls: string[]) => {
      const task = fetchTask({ urls, config });
      const missing = () => urls.some((url) => !departures.some(({ path }) => url.endsWith(path)));
      // one that has to wait comes again when it may go on
      for (; missing(); await systemClock.sleep(50)) await harness.deliver(task, { receiveCount: 2 });
    };
    await Promise.all([crawl(all.slice(0, 10)), crawl(all.slice(10, 20)), crawl(all.slice(20))]);
    expect(departures).toHaveLength(30);
    expect(busiestSecond(departures)).toBeLessThanOrEqual(20);
  });

  it("is the domain's own where that is slower", async () => {
    await using site = await startSite(graph(4));
    const departures = departuresTo(site.origin);
    const harness = await fetchHarness();
    const Item = { pk: `host#${site.host}`, rate_limit_rps: 2 };
    await harness.aws.dynamo.send(new PutCommand({ TableName: harness.aws.stateTable, Item }));
    await harness.deliver(fetchTask({ urls: pages(site.origin, 4) }));
    expect(departures).toHaveLength(5);
    expect(busiestSecond(departures)).toBeLessThanOrEqual(2);
  });

  it("is what Crawl-delay asks for", async () => {
    await using site = await startSite({ ...graph(4), "/robots.txt": { body: "User-agent: *\nCrawl-delay: 0.4" } });
    const departures = departuresTo(site.origin);
    const harness = await fetchHarness();
    await harness.deliver(fetchTask({ urls: pages(site.origin, 4) }));
    const times = departures.filter(({ path }) => path !== "/robots.txt").map(({ at }) => at);
    expect(times).toHaveLength(4);
    for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(390);
    expect(await harness.captures()).toHaveLength(4);
  });
});

describe("a task whose slot is far away", () => {
  it("is sent again with a delay, and makes no request", async () => {
    await using site = await startSite(graph(2));
    const harness = await fetchHarness();
    await harness.dependencies.hosts.hold(site.host, Date.now() + 60_000);
    const task = fetchTask({ urls: pages(site.origin, 2) });
    await harness.deliver(task);
    expect(site.requests).toEqual([]);
    expect(await harness.captures()).toEqual([]);
    // a duplicate of the first delivery changes nothing
    await harness.deliver(task);
    expect(harness.delayed()).toBe(1);
  });

  const SPARSE = { rate_limit_rps: 0.2, respect_robots_txt: false };

  it("makes the request whose turn it is, and waits for the next one in the queue", async () => {
    await using site = await startSite(graph(10));
    const harness = await fetchHarness();
    await harness.deliver(fetchTask({ urls: pages(site.origin, 10), config: SPARSE }));
    expect(site.paths()).toHaveLength(1);
    expect(await harness.captures()).toHaveLength(1);
    expect(harness.delayed()).toBe(1);
  });

  it("waits for it in the middle of a page, which would have to be begun again", async () => {
    await using site = await startSite({
      "/robots.txt": redirect("/rules"),
      "/rules": { body: "User-agent: *\nAllow: /" },
      "/a": redirect("/b"),
      "/b": redirect("/c"),
      "/c": html("fine"),
    });
    const harness = await fetchHarness({}, fastClock(20));
    const task = fetchTask({ urls: [`${site.origin}/a`], config: { rate_limit_rps: 0.2 } });
    // a delivery that comes too early makes no request
    const deliver = async () => {
      await harness.deliver({ ...task, taskId: randomUUID() });
      return site.paths(true);
    };
    expect(await deliver()).toEqual(["/robots.txt", "/rules"]);
    await expect.poll(deliver).not.toHaveLength(2);
    expect(site.paths(true)).toEqual(["/robots.txt", "/rules", "/a", "/b", "/c"]);
    expect((await harness.captures()).map(({ error }) => error)).toEqual([null]);
  });

  it("leaves its host to others at once when its job is cancelled", async () => {
    await using site = await startSite(graph(30));
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 30), config: { rate_limit_rps: 2, respect_robots_txt: false } });
    const running = harness.deliver(task);
    await expect.poll(() => site.paths().length).toBeGreaterThan(0);
    expect((await harness.dependencies.hosts.read(site.host)).next_at).toBeGreaterThan(Date.now() + 10_000);
    await harness.dependencies.flags.markCancelled(task.jobId);
    await running;
    expect((await harness.dependencies.hosts.read(site.host)).next_at).toBeLessThan(Date.now() + 1_100);
  });
});

describe("a server that asks for silence", () => {
  it.each([
    [429, "RATE_LIMITED"],
    [503, "HTTP_503"],
  ])("by %i with Retry-After gets it, from every task", async (status, code) => {
    let answered = 0;
    const routes: Record<string, Route> = Object.fromEntries(
      pages("", 8).map((path): [string, Route] => [
        path,
        () => {
          answered += 1;
          return answered === 3 ? { status, headers: { "Retry-After": "120" } } : html("fine");
        },
      ]),
    );
    await using site = await startSite(routes);
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" });
    await harness.deliver(fetchTask({ urls: pages(site.origin, 8), config: { rate_limit_rps: 20 } }));
    const captures = await harness.captures();
    expect(captures.map(({ error }) => error?.code ?? null)).toEqual([null, null, code]);
    expect(captures[2]?.error?.retryable).toBe(true);
    expect(site.paths()).toHaveLength(3);
    await harness.deliver(fetchTask({ urls: pages(site.origin, 1) }));
    expect(site.paths()).toHaveLength(3);
    expect(harness.delayed()).toBe(2);
  });
});

it.each(["0", "Thu, 01 Jan 2015 00:00:00 GMT", "soon"])(
  "a server that answers 429 with Retry-After %j is left alone for a while all the same",
  async (value) => {
    await using site = await startSite({
      ...graph(4),
      "/page/1": { status: 429, headers: { "Retry-After": value } },
    });
    const clock = fastClock();
    const harness = await fetchHarness({ FETCH__CONCURRENCY_PER_TASK: "1" }, clock);
    const before = clock.now();
    await harness.deliver(fetchTask({ urls: pages(site.origin, 4), config: { rate_limit_rps: 20 } }));
    const { hold_until } = await harness.dependencies.hosts.read(site.host);
    expect(hold_until).toBeGreaterThanOrEqual(before + 5_000);
  },
);

describe("robots.txt", () => {
  it("is fetched once, kept for other tasks, and obeyed", async () => {
    await using site = await startSite({
      ...graph(4),
      "/robots.txt": { body: "User-agent: strandline\nDisallow: /page/1\nUser-agent: *\nDisallow: /" },
    });
    const first = await fetchHarness();
    const captures = await first.fetch(fetchTask({ urls: pages(site.origin, 4) }));
    expect(captures.map(({ error }) => error?.code ?? null)).toEqual([null, "ROBOTS_DENIED", null, null]);
    expect(captures[1]).toMatchObject({ status: 0, warc: null });
    await first.fetch(fetchTask({ urls: pages(site.origin, 2) }));
    expect(site.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
    expect(site.paths()).not.toContain("/page/1");
  });

  it("is not asked for where the job says so", async () => {
    await using site = await startSite({ ...graph(1), "/robots.txt": { body: "User-agent: *\nDisallow: /" } });
    const harness = await fetchHarness();
    const task = fetchTask({ urls: pages(site.origin, 1), config: { respect_robots_txt: false } });
    expect((await harness.fetch(task))[0]?.error).toBeNull();
    expect(site.paths(true)).toEqual(["/page/0"]);
  });

  const outcomes: [string, Record<string, Route>, string | null][] = [
    ["404", { "/robots.txt": { status: 404 } }, null],
    ["403", { "/robots.txt": { status: 403 } }, null],
    ["500", { "/robots.txt": { status: 500 } }, "ROBOTS_UNREACHABLE"],
    ["no answer", { "/robots.txt": silence() }, "ROBOTS_UNREACHABLE"],
    [
      "a redirect",
      { "/robots.txt": redirect("/r"), "/r": { body: "User-agent: *\nDisallow: /page/0" } },
      "ROBOTS_DENIED",
    ],
    ["a redirect to a private address", { "/robots.txt": redirect("http://10.0.0.1/") }, null],
    [
      "endless redirects",
      Object.fromEntries(
        Array.from({ length: 9 }, (_, n) => [n === 0 ? "/robots.txt" : `/${n}`, redirect(`/${n + 1}`)]),
      ),
      null,
    ],
    ["an HTML page", { "/robots.txt": html("<p>Disallow: /") }, null],
  ];
  it.each(outcomes)("that is %s means what RFC 9309 says", async (what, routes, expected) => {
    await using site = await startSite({ ...graph(1), ...routes });
    // the server that answers has time to
    const harness = await fetchHarness(what === "no answer" ? { FETCH__HEADERS_TIMEOUT_MS: "400" } : {});
    const [capture] = await harness.fetch(fetchTask({ urls: pages(site.origin, 1) }));
    expect(capture?.error?.code ?? null).toBe(expected);
    expect(capture?.error?.retryable ?? false).toBe(expected === "ROBOTS_UNREACHABLE");
    expect(site.paths().includes("/page/0")).toBe(expected === null);
  });

  it("unreachable may be tolerated by configuration", async () => {
    await using site = await startSite({ ...graph(1), "/robots.txt": { status: 503 } });
    const harness = await fetchHarness({ ROBOTS__UNREACHABLE: "allow" });
    const [capture] = await harness.fetch(fetchTask({ urls: pages(site.origin, 1) }));
    expect(capture?.error).toBeNull();
  });
});
