import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { http, record } from "../warc-records.ts";
import { nastySite, SITE, TIMESTAMP } from "./nasty-site.ts";
import { archivedFrame, type ReplayBrowser, replayBrowser } from "./replay-browser.ts";

let opened: ReplayBrowser;
let setup: ReplayBrowser["setup"];
let server: ReplayBrowser["server"];
let api: ReplayBrowser["api"];
let browser: ReplayBrowser["browser"];
let page: ReplayBrowser["page"];
let trapped: string[];

beforeAll(async () => {
  opened = await replayBrowser(nastySite());
  ({ setup, server, api, browser, page, trapped } = opened);
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
});
afterAll(() => opened?.close());

const archived = async () => archivedFrame(page);

it("asks nobody else: not for what is archived, nor for what is not, nor where a script would go", async () => {
  const frame = await archived();
  await frame.evaluate("document.getElementById('ping').click()");
  await vi.waitFor(async () => expect(await (await archived()).title()).toBe("Not archived"), { timeout: 120_000 });
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
  await (await archived()).evaluate("location.href = 'http://outside.test/location'");
  await vi.waitFor(async () => expect((await archived()).url()).toMatch(/^(chrome-error|about):/), {
    timeout: 120_000,
  });
  expect(trapped).toEqual([]);
  expect([...server.served].filter(([path]) => path.includes("outside.test/img.png"))).toEqual([
    [expect.any(String), 404],
  ]);
});

it("follows links within the archive, and marks those that lead nowhere", async () => {
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/page`, { waitUntil: "domcontentloaded" });
  const frame = await archived();
  const marked = await frame.$$eval("a[data-archive-missing]", (links) => links.map(({ id }) => id));
  expect(marked).toContain("missing");
  expect(marked).not.toContain("next");
  await frame.evaluate("document.getElementById('next').click()");
  await vi.waitFor(
    async () => expect(await (await archived()).$eval("h1", (heading) => heading.textContent)).toBe("next"),
    { timeout: 120_000 },
  );
  expect((await archived()).url()).toBe(`${server.url}/${TIMESTAMP}mp_/${SITE}/dir/next.html`);
});

it("gives an archived script no origin: it reads neither the API nor anything that is kept", async () => {
  await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/dir/next.html`, { waitUntil: "domcontentloaded" });
  const frame = await archived();
  const found = await frame.evaluate(`(async () => {
    const tried = async (work) => {
      try {
        return await work();
      } catch (error) {
        return error.name;
      }
    };
    return {
      origin: self.origin,
      parent: await tried(() => top.document.title),
      api: await tried(async () => (await fetch("http://127.0.0.1:${api.port}/api/stats")).status),
      database: await tried(() => new Promise((resolve, reject) => {
        const request = indexedDB.open("x");
        request.onsuccess = () => resolve("opened");
        request.onerror = () => reject(request.error);
      })),
    };
  })()`);
  expect(found).toEqual({ origin: "null", parent: "SecurityError", api: expect.anything(), database: "SecurityError" });
  // asked of the archive, where no such page is, and never of the API
  expect([...server.served].find(([path]) => path.endsWith("/api/stats"))?.[1]).toBe(404);
  const answer = await fetch(`http://127.0.0.1:${api.port}/api/stats`, { headers: { origin: "null" } });
  expect(answer.status).toBe(403);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  expect(await page.cookies(server.url)).toEqual([]);
});

it("keeps a window where it is, whatever is opened in it", async () => {
  const leave = "location = 'http://outside.test/left'";
  const [xhtml, svg] = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
  const refresh = (to: string) => `<meta http-equiv="refresh" content="1; url=${to}"><h1>waits</h1>`;
  const at = (path: string, type: string, body: string) =>
    record(http(body, `Content-Type: ${type}\r\n`), { url: `${SITE}/leaves/${path}`, date: "2026-01-01T00:00:00Z" });
  await setup.importRecords([
    at("xhtml", "application/xhtml+xml", `<html xmlns="${xhtml}"><body><script>${leave}</script></body></html>`),
    at("svg", "image/svg+xml", `<svg xmlns="${svg}"><script>${leave}</script></svg>`),
    at("atom", "application/atom+xml", `<feed><script xmlns="${xhtml}">${leave}</script></feed>`),
    at("html", "text/html", `<script>${leave}</script>`),
    at("refresh", "text/html", refresh("http://outside.test/refreshed")),
    at("control", "text/html", refresh(`${SITE}/leaves/arrived`)),
    at("arrived", "text/html", "<h1>arrived</h1>"),
  ]);
  for (const path of ["xhtml", "svg"]) {
    await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/leaves/${path}`, { waitUntil: "domcontentloaded" });
    await vi.waitFor(async () => expect((await archived()).url()).toMatch(/^(chrome-error|about):/), {
      timeout: 120_000,
    });
  }
  for (const path of ["xhtml", "svg", "atom", "html", "refresh"]) {
    const window = await browser.newPage();
    const url = `${server.url}/${TIMESTAMP}id_/${SITE}/leaves/${path}`;
    await window.goto(url, { waitUntil: "load" }).catch(() => undefined);
    // what is begun later, and waits as long, has arrived
    await page.goto(`${server.url}/${TIMESTAMP}/${SITE}/leaves/control`, { waitUntil: "domcontentloaded" });
    await vi.waitFor(async () => expect((await archived()).url()).toContain("leaves/arrived"), { timeout: 120_000 });
    expect([path, window.url()]).toEqual([path, url]);
    await window.close();
  }
  expect(trapped).toEqual([]);
});
