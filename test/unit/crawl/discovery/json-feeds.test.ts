import { expect, test } from "vitest";
import { readBytes } from "./lists.ts";

const VERSION = "https://jsonfeed.org/version/1.1";
const feed = (...items: unknown[]): string => JSON.stringify({ version: VERSION, title: "F", items });

test("JSON Feed: the URL, else an id that is one, else what the item points to; the latest date", async () => {
  const read = await readBytes(
    `\ufeff \n${feed(
      { id: 1, url: "/1", date_published: "2026-11-01T00:00:00Z", date_modified: "2026-11-02T00:00:00Z" },
      { id: "https://a.example/2", external_url: "https://b.example/" },
      { id: "3", external_url: "https://b.example/3", date_published: "soon" },
      { id: "4" },
      "five",
      null,
    )}`,
  );
  expect(read).toMatchObject({ kind: "feed", cut: null });
  expect(read.pages).toMatchObject([
    { url: "/1", lastmod: "2026-11-02T00:00:00Z", id: "1" },
    { url: "https://a.example/2", lastmod: null, badLastmod: false },
    { url: "https://b.example/3", badLastmod: true, dated: "soon" },
    { url: null, id: "4" },
    { url: null },
    { url: null },
  ]);
});

test("other JSON is no feed, and what is cut or too long says so", async () => {
  for (const body of ["{}", '{"items": []}', `{"version": "${VERSION}"}`, "{[", `{"version": 1, "items": []}`]) {
    expect((await readBytes(body)).kind).toBe("unknown");
  }
  const cut = await readBytes(feed({ id: "https://a.example/1" }).slice(0, -5), [], "disconnect");
  expect(cut).toMatchObject({ kind: "feed", pages: [], cut: { code: "TRUNCATED" } });
  const long = await readBytes(feed({ id: "x".repeat(17 * 1024 * 1024) }));
  expect(long).toMatchObject({ kind: "feed", pages: [], cut: { code: "TRUNCATED" } });
  const nested = `{"version": "${VERSION}", "items": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  expect((await readBytes(nested)).pages).toMatchObject([{ url: null }]);
});

test("a feed behind warnings of its server is read, and its entries tell their ids", async () => {
  const read = await readBytes(
    `Warning: Undefined index in /var/www/feed.php on line 3\n<?xml version="1.0"?><rss version="2.0"><channel>
     <item><link>https://a.example/1</link><guid isPermaLink="false">g-1</guid><pubDate>someday</pubDate></item></channel></rss>`,
  );
  expect(read.pages).toMatchObject([{ url: "https://a.example/1", id: "g-1", dated: "someday", lastmod: null }]);
});

test("entities that a feed declares are not expanded", async () => {
  const lines = ["<!ENTITY a0 'https://a.example/'>"];
  for (let level = 1; level < 30; level += 1) lines.push(`<!ENTITY a${level} '&a${level - 1};&a${level - 1};'>`);
  const read = await readBytes(
    `<?xml version="1.0"?><!DOCTYPE rss [${lines.join("")}]><rss><channel><item><link>&a29;</link></item>
     <item><link>https://a.example/1</link></item></channel></rss>`,
  );
  expect(read.kind).toBe("feed");
  expect(read.pages.map(({ url }) => url)).toEqual(["&a29;", "https://a.example/1"]);
});
