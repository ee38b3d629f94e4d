import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pageGraph } from "../../../sites/page-graph.ts";
import { html, startSite } from "../../../sites/site.ts";
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
