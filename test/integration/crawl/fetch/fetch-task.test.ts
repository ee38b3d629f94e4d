import { createHash, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSessionCookies } from "../../../../shared/crawl/tasks/session-cookies.ts";
import { pageGraph } from "../../../sites/page-graph.ts";
import { html, type Route, type Site, startSite } from "../../../sites/site.ts";
import { fetchHarness, fetchTask } from "./harness.ts";

describe("a fetch task", () => {
  it("yields one capture per URL, each with its WARC record and extraction", async () => {
    await using site = await startSite(pageGraph({ pages: 40, linksPerPage: 3, pageBytes: 3000 }));
    const harness = await fetchHarness();
    const urls = Array.from({ length: 40 }, (_, page) => `${site.origin}/page/${page}`);
    const captures = await harness.fetch(fetchTask({ urls }));
    expect(captures.map(({ url }) => url)).toEqual(urls);
    expect(captures.every(({ error, status }) => error === null && status === 200)).toBe(true);
    for (const [page, capture] of captures.entries()) {
      expect(capture.extraction?.title).toBe(`Page ${page}`);
      expect(capture.extraction?.links).toHaveLength(3);
      const record = await harness.record(capture);
      expect(`sha256:${createHash("sha256").update(record.body).digest("hex")}`).toBe(capture.payloadDigest);
    }
    expect(site.requests.filter(({ path }) => path === "/robots.txt")).toHaveLength(1);
    expect(site.paths().sort()).toEqual(urls.map((url) => new URL(url).pathname).sort());
  });

  it("keeps of a page what its settings select", async () => {
    await using site = await startSite({ "/": html(`<h1>Title</h1><p class=a>Kept <b>or</b> not.</p><p>No.</p>`) });
    const harness = await fetchHarness();
    const config = { include_selectors: [".a"], exclude_selectors: ["b"] };
    const [capture] = await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config }));
    expect(capture?.extraction).toMatchObject({ text: "Kept not.", markdown: "Kept not." });
  });

  it("sends cookies to the hosts that they name, beside those of its headers", async () => {
    await using site = await startSite({ "/": html("<p>hello") });
    const harness = await fetchHarness();
    const cookies = [
      { host: "127.0.0.1", name: "a", value: "1" },
      { host: site.host, name: "b", value: "2" },
      { host: "other.example", name: "c", value: "3" },
      { host: "127.0.0.1:1", name: "d", value: "4" },
      { host: "other.example:80", name: "e", value: "5" },
    ];
    const config = { cookies, headers: { Cookie: "own=0" } };
    await harness.fetch(fetchTask({ urls: [`${site.origin}/`], config }));
    const page = site.requests.find(({ path }) => path === "/");
    expect(page?.headers.cookie).toBe("own=0; a=1; b=2");
    expect(site.requests.find(({ path }) => path === "/robots.txt")?.headers.cookie).toBeUndefined();
    expect(harness.logged.join()).not.toContain("own=0");
  });

  describe("with a session", () => {
    const page = (...cookies: string[]): Route => ({
      body: "<p>hello",
      headers: [["content-type", "text/html"], ...cookies.map((each) => ["set-cookie", each] as const)],
    });
    const cookiesAt = (site: Site, path: string) =>
      site.requests.filter((each) => each.path === path).map(({ headers }) => headers.cookie);

    it("sends what a host has set to it for the rest of the job, and to nobody else", async () => {
      const routes = {
        "/login": page(
          "sid=secret1; Path=/; HttpOnly",
          "deep=2; Path=/in",
          "tls=3; Secure",
          "theirs=4; Domain=other.example",
          "begun=5",
        ),
        "/in/a": html("<p>hello"),
        "/b": html("<p>hello"),
        "/out": page("sid=; Path=/; Max-Age=0"),
        "/c": html("<p>hello"),
      };
      await using site = await startSite(routes);
      await using other = await startSite(routes);
      const harness = await fetchHarness();
      const cookies = [{ host: "127.0.0.1", name: "begun", value: "0" }];
      const jobId = randomUUID();
      const visit = async (path: string, { session = true, job = jobId, origin = site.origin } = {}) => {
        const task = fetchTask({ urls: [`${origin}${path}`], config: { session, cookies } });
        const [capture] = await harness.fetch({ ...task, jobId: job });
        expect(capture?.error).toBeNull();
      };
      await visit("/b");
      for (const path of ["/login", "/in/a", "/b", "/out", "/c"]) await visit(path);
      expect(cookiesAt(site, "/login")).toEqual(["begun=0"]);
      expect(cookiesAt(site, "/in/a")).toEqual(["deep=2; sid=secret1; begun=5"]);
      expect(cookiesAt(site, "/b")).toEqual(["begun=0", "sid=secret1; begun=5"]);
      expect(cookiesAt(site, "/c")).toEqual(["begun=5"]);

      await visit("/b", { job: randomUUID() });
      await visit("/b", { session: false });
      expect(cookiesAt(site, "/b").slice(2)).toEqual(["begun=0", "begun=0"]);
      await visit("/b", { origin: other.origin });
      await visit("/b", { origin: other.origin.replace("127.0.0.1", "localhost") });
      expect(cookiesAt(other, "/b")).toEqual(["begun=0", undefined]);
      for (const each of [site, other]) expect(new Set(cookiesAt(each, "/robots.txt"))).toEqual(new Set([undefined]));
      expect(harness.logged.join()).not.toContain("secret1");
    });

    it("sends the cookies of one page to the next of the same task", async () => {
      const paths = Array.from({ length: 6 }, (_, index) => `/${index}`);
      await using site = await startSite(Object.fromEntries(paths.map((path) => [path, page(`n=${path.slice(1)}`)])));
      const harness = await fetchHarness();
      const task = fetchTask({ urls: paths.map((path) => site.origin + path), config: { session: true } });
      await harness.fetch({ ...task, concurrency: 1 });
      const sent = site.requests.filter(({ path }) => path !== "/robots.txt");
      expect(sent.map(({ headers }) => headers.cookie)).toEqual([
        undefined,
        ...sent.slice(0, -1).map(({ path }) => `n=${path.slice(1)}`),
      ]);
    });

    it("goes on through redirects, and keeps what they set", async () => {
      await using site = await startSite({
        "/s": {
          status: 302,
          headers: [
            ["location", "/hop"],
            ["set-cookie", "a=1; Path=/"],
          ],
        },
        "/hop": {
          status: 302,
          headers: [
            ["location", "/end"],
            ["set-cookie", "b=2; Path=/"],
          ],
        },
        "/end": html("<p>hello"),
        "/next": html("<p>hello"),
      });
      const harness = await fetchHarness();
      const first = fetchTask({ urls: [`${site.origin}/s`], config: { session: true } });
      await harness.fetch(first);
      const next = fetchTask({ urls: [`${site.origin}/next`], config: { session: true } });
      await harness.fetch({ ...next, jobId: first.jobId });
      expect(["/hop", "/end", "/next"].map((path) => cookiesAt(site, path))).toEqual([
        ["a=1"],
        ["a=1; b=2"],
        ["a=1; b=2"],
      ]);
    });

    it("keeps no more than servers take, and nothing an hour after it was asked for", async () => {
      const harness = await fetchHarness();
      let now = Date.now();
      const { dynamo, stateTable } = harness.aws;
      const session = createSessionCookies(dynamo, stateTable, () => now).of(randomUUID());
      const url = new URL("http://127.0.0.1/");
      const set = (from: number, value: string): [string, string][] =>
        Array.from({ length: 40 }, (_, index) => ["set-cookie", `c${from + index}=${value}`]);
      for (let from = 0; from < 400; from += 40) await session.keep(url, set(from, "x"));
      expect(await session.read(url)).toHaveLength(50);
      for (let from = 400; from < 800; from += 40) await session.keep(url, set(from, "y".repeat(1000)));
      expect(JSON.stringify(await session.read(url)).length).toBeLessThan(20_000);
      await session.keep(url, [["set-cookie", "short=1; Max-Age=60"]]);
      for (let hours = 0; hours < 3; hours += 0.75) {
        now += 0.75 * 3_600_000;
        expect((await session.read(url)).map(({ name }) => name)).toContain("c0");
      }
      now += 3_700_000;
      expect(await session.read(url)).toEqual([]);
    });
  });

  it("sends what it was told to send", async () => {
    await using site = await startSite({ "/": html("<p>hello") });
    const harness = await fetchHarness();
    await harness.fetch(
      fetchTask({ urls: [`${site.origin}/`], config: { headers: { "X-Team": "blue", Host: "evil" } } }),
    );
    const page = site.requests.find(({ path }) => path === "/");
    expect(page?.headers).toMatchObject({
      "user-agent": expect.stringMatching(/^strandline\//),
      "accept-encoding": "gzip, deflate, br, zstd",
      "x-team": "blue",
      host: site.host,
    });
    const robots = site.requests.find(({ path }) => path === "/robots.txt");
    expect(robots?.headers["x-team"]).toBeUndefined();
  });
});
