import { randomUUID } from "node:crypto";
import { expect, it, vi } from "vitest";
import type { ProxyServer } from "../../../../shared/access/proxy-server.ts";
import type { RotationStrategy } from "../../../../shared/crawl/proxies/rotation.ts";
import { createProxyStates } from "../../../../shared/crawl/proxies/store.ts";
import { type Clock, systemClock } from "../../../../shared/platform/clock.ts";
import { startProxy } from "../../../services/proxy-server.ts";
import { startSite } from "../../../sites/site.ts";
import { type FetchHarness, fetchHarness, fetchTask } from "./harness.ts";

const html = (text: string) => ({ headers: { "Content-Type": "text/html" }, body: `<p>${text}` });

async function share(
  { aws }: FetchHarness,
  servers: ProxyServer[],
  rotation: RotationStrategy = "round_robin",
  active = true,
): Promise<string> {
  const id = randomUUID();
  await createProxyStates(aws.dynamo, aws.stateTable).share(id, { servers, rotation, active });
  return id;
}

it("fetches pages and robots.txt through the proxy, politely, and archives what it would have without one", async () => {
  await using site = await startSite({ "/": html("through"), "/robots.txt": { body: "User-agent: *\nDisallow: /no" } });
  await using http = await startProxy({ kind: "http", credentials: { username: "u", password: "s3cret" } });
  await using socks = await startProxy({ kind: "socks5" });
  const harness = await fetchHarness();
  const [direct] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`] }));
  const plain = direct && (await harness.record(direct));
  for (const [proxy, server] of [
    [http, { url: http.url, username: "u", password: "s3cret" }],
    [socks, { url: socks.url }],
  ] as const) {
    const proxy_id = await share(harness, [server]);
    const before = site.requests.length;
    const urls = ["/", "/no", "/missing"].map((path) => site.origin + path);
    const captures = await harness.fetch(fetchTask({ urls, config: { proxy_id } }));
    expect(captures.map(({ status, error }) => [status, error?.code])).toEqual([
      [200, undefined],
      [0, "ROBOTS_DENIED"],
      [404, "HTTP_404"],
    ]);
    expect(site.requests.length - before).toBe(2);
    expect(new Set(proxy.targets)).toEqual(new Set([site.host]));
    const through = captures[0] && (await harness.record(captures[0]));
    const unstable = ([name]: [string, string]) => name.toLowerCase() !== "date";
    expect(through?.httpHeaders.filter(unstable)).toEqual(plain?.httpHeaders.filter(unstable));
    expect(through?.body).toEqual(plain?.body);
    expect([...(through?.warcHeaders.keys() ?? [])]).toEqual([...(plain?.warcHeaders.keys() ?? [])]);
    const sent = site.requests.at(-1)?.rawHeaders.join("\n") ?? "";
    expect(sent.toLowerCase()).not.toMatch(/proxy|via|forwarded/);
  }
});

it("never goes out directly: a config that is missing or switched off costs its URLs PROXY_UNAVAILABLE", async () => {
  await using site = await startSite({ "/": html("x") });
  await using proxy = await startProxy({ kind: "http" });
  const harness = await fetchHarness();
  for (const proxy_id of [randomUUID(), await share(harness, [{ url: proxy.url }], "random", false)]) {
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config: { proxy_id } }));
    expect(capture).toMatchObject({ status: 0, error: { code: "PROXY_UNAVAILABLE", retryable: true } });
  }
  expect(site.requests).toHaveLength(0);
  expect(proxy.connections()).toBe(0);
});

it("goes on over another server where one fails, avoids that one, and blames the proxy alone where all fail", async () => {
  await using site = await startSite({}, () => html("x"));
  await using broken = await startProxy({ kind: "http", misbehaviour: "closes" });
  await using working = await startProxy({ kind: "socks5" });
  const harness = await fetchHarness();
  const proxy_id = await share(harness, [{ url: broken.url }, { url: working.url }]);
  const fetchSome = (count: number, at: number) =>
    harness.fetch(
      fetchTask({
        urls: Array.from({ length: count }, (_, page) => `${site.origin}/${at}/${page}`),
        config: { proxy_id, respect_robots_txt: false },
      }),
    );
  expect((await fetchSome(12, 1)).map(({ status }) => status)).toEqual(Array(12).fill(200));
  const once = broken.connections();
  expect(once).toBeGreaterThan(0);
  // other tasks' turn would be the broken one's
  for (let task = 2; task < 5; task++) await fetchSome(1, task);
  expect(broken.connections()).toBe(once);

  working.misbehave("silent");
  await working.close();
  const [lost] = await fetchSome(1, 5);
  expect(lost).toMatchObject({ status: 0, error: { code: "PROXY_UNAVAILABLE", retryable: true } });
  expect(await harness.dependencies.hosts.read(site.host)).toMatchObject({ failures: 0, opened_at: 0 });
});

it("takes a site that the proxy cannot reach for a site that cannot be reached", async () => {
  await using site = await startSite({ "/": html("x") });
  await using proxy = await startProxy({ kind: "http", misbehaviour: "unreachable" });
  const harness = await fetchHarness();
  const proxy_id = await share(harness, [{ url: proxy.url }]);
  const config = { proxy_id, respect_robots_txt: false };
  const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config }));
  expect(capture).toMatchObject({ error: { code: "CONNECT_FAILED", retryable: true } });
  expect(await harness.dependencies.hosts.read(site.host)).toMatchObject({ failures: 0 });
});

it.each(["round_robin", "least_used"] as const)("shares tasks evenly among the servers: %s", async (rotation) => {
  await using site = await startSite({}, () => html("x"));
  const proxies = await Promise.all([1, 2, 3].map(() => startProxy({ kind: "http" })));
  const harness = await fetchHarness();
  const proxy_id = await share(
    harness,
    proxies.map(({ url }) => ({ url })),
    rotation,
  );
  for (let task = 0; task < 6; task++) {
    const config = { proxy_id, respect_robots_txt: false };
    await harness.fetch(fetchTask({ urls: [`${site.origin}/${task}`], config }));
  }
  const item = await createProxyStates(harness.aws.dynamo, harness.aws.stateTable).takeRotation(
    proxy_id,
    proxies.map(({ url }) => ({ url })),
  );
  expect(item.rotationIndex).toBe(6);
  if (rotation === "least_used") expect(item.uses.map(({ uses }) => uses)).toEqual([2, 2, 2]);
  for (const proxy of proxies) {
    expect(proxy.targets.length).toBeGreaterThan(0);
    await proxy.close();
  }
});

it("notices within seconds that a config is gone", async () => {
  await using proxy = await startProxy({ kind: "http" });
  let now = Date.now();
  const harness = await fetchHarness();
  const states = createProxyStates(harness.aws.dynamo, harness.aws.stateTable, () => now);
  const id = await share(harness, [{ url: proxy.url }]);
  expect(await states.read(id)).toMatchObject({ active: true });
  await createProxyStates(harness.aws.dynamo, harness.aws.stateTable).forget(id);
  expect(await states.read(id)).toMatchObject({ active: true });
  now += 10_000;
  expect(await states.read(id)).toBeUndefined();
});

it("makes no request through a proxy a second after it was removed, though some had their turn coming", async () => {
  await using site = await startSite({}, () => html("x"));
  await using proxy = await startProxy({ kind: "http" });
  const removal = Promise.withResolvers<void>();
  // whoever waits for a turn once the first request has come waits until the second is over
  const sleep: Clock["sleep"] = async (ms, signal) => {
    await systemClock.sleep(ms, signal);
    if (site.requests.length > 0) await removal.promise;
  };
  const harness = await fetchHarness({}, { now: systemClock.now, sleep });
  const states = createProxyStates(harness.aws.dynamo, harness.aws.stateTable);
  const proxy_id = await share(harness, [{ url: proxy.url }]);
  let over = false;
  let late = 0;
  const { egress } = harness.dependencies;
  harness.dependencies.egress = {
    forTask(id) {
      const task = egress.forTask(id);
      return {
        async chooseRoute() {
          const counts = over;
          const route = await task.chooseRoute();
          if (counts) late += 1;
          return route;
        },
      };
    },
  };
  const urls = Array.from({ length: 8 }, (_, page) => `${site.origin}/${page}`);
  // eight workers, each with a turn two thirds of a second after the other's
  const config = { proxy_id, respect_robots_txt: false, rate_limit_rps: 1.5 };
  const fetched = harness.fetch(fetchTask({ urls, config }));
  await vi.waitFor(() => expect(site.requests.length).toBeGreaterThan(0), 30_000);
  await states.forget(proxy_id);
  const removedAt = Date.now();
  await vi.waitFor(() => expect(Date.now() - removedAt).toBeGreaterThan(1000), 30_000);
  over = true;
  removal.resolve();
  const captures = await fetched;
  expect(late).toBe(0);
  expect(captures.filter(({ status }) => status === 200)).toHaveLength(site.requests.length);
  expect(captures.filter(({ error }) => error?.code === "PROXY_UNAVAILABLE").length).toBeGreaterThan(0);
});

it("keeps the guard through a proxy: a private address behind a redirect is not asked for", async () => {
  await using site = await startSite({ "/": { status: 302, headers: { Location: "http://10.0.0.1/" } } });
  await using proxy = await startProxy({ kind: "socks5" });
  const harness = await fetchHarness();
  const proxy_id = await share(harness, [{ url: proxy.url }]);
  const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config: { proxy_id } }));
  expect(capture).toMatchObject({ error: { code: "URL_BLOCKED" } });
  expect(new Set(proxy.targets)).toEqual(new Set([site.host]));
});

it.each(["cuts-tunnels", "unreachable"] as const)(
  "leaves the circuit of the site closed where a proxy loses what goes through it: %s",
  async (misbehaviour) => {
    await using site = await startSite({}, () => html("x"));
    await using broken = await startProxy({ kind: "http", misbehaviour });
    const harness = await fetchHarness();
    const proxy_id = await share(harness, [{ url: broken.url }]);
    const urls = Array.from({ length: 8 }, (_, page) => `${site.origin}/${page}`);
    const config = { respect_robots_txt: false, rate_limit_rps: 100 };
    const lost = await harness.fetch(fetchTask({ urls, config: { ...config, proxy_id } }));
    expect(lost.map(({ status }) => status)).toEqual(Array(8).fill(0));
    const { failures, opened_at } = await harness.dependencies.hosts.read(site.host);
    expect({ failures, opened_at }).toEqual({ failures: 0, opened_at: 0 });
    const [direct] = await harness.fetch(fetchTask({ urls: [`${site.origin}/direct`], config }));
    expect(direct?.status).toBe(200);
  },
);
