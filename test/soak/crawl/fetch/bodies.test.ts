import { describe, expect, it } from "vitest";
import { fetchHarness, fetchTask } from "../../../integration/crawl/fetch/harness.ts";
import { html, type Route, startSite } from "../../../sites/site.ts";

const PAGE = `<!doctype html><html lang="en"><title>T</title><p>${"Text of the page, which is long enough. ".repeat(40)}</p>`;

describe("a body that is not what a page should be", () => {
  it("of more tags than memory has room for is read in part", async () => {
    const tags = (count: number): string => `<title>tags</title><p>${"<i>a".repeat(count)}`;
    await using site = await startSite({ "/few": html(tags(399_000)), "/many": html(tags(1_000_000)) });
    const harness = await fetchHarness();
    const [few, many] = await harness.fetch(fetchTask({ urls: [`${site.origin}/few`, `${site.origin}/many`] }));
    expect(few).toMatchObject({ error: null, truncated: false, extraction: { title: "tags" } });
    expect(many).toMatchObject({ error: null, truncated: true, extraction: { title: "tags" } });
    expect(many?.extraction?.text.length).toBeGreaterThan(few?.extraction?.text.length ?? 0);
    expect(many?.extraction?.text.length).toBeLessThan(500_000);
  });

  it("of 50 MB neither kills the worker nor holds up the others", async () => {
    const large = Buffer.concat([
      Buffer.from("<title>huge</title>"),
      Buffer.alloc(51 * 1024 * 1024, "<p>A sentence of ten words stands in this very paragraph.</p>\n"),
    ]);
    const routes = Object.fromEntries(["/1", "/2", "/3"].map((path): [string, Route] => [path, html(large)]));
    await using site = await startSite({ ...routes, "/small": html(PAGE) });
    const harness = await fetchHarness();
    const urls = [...Object.keys(routes), "/small"].map((path) => site.origin + path);
    const captures = await harness.fetch(fetchTask({ urls }));
    expect(captures.map(({ truncated, error }) => [truncated, error])).toEqual([
      ...Array.from({ length: 3 }, () => [true, null]),
      [false, null],
    ]);
    expect(captures[0]?.payloadBytes).toBe(50 * 1024 * 1024);
  });
});
