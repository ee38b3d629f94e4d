/** What pages refer to, in whichever way: all of it is asked of the archive, and loads. */
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { SITE as AWKWARD, archivedAt, awkwardSite, LEAVING, PAGES } from "./awkward-pages.ts";
import { KINDS, nastySite, SITE, TIMESTAMP, urlOfKind } from "./nasty-site.ts";
import { type ReplayBrowser, replayBrowser } from "./replay-browser.ts";

let opened: ReplayBrowser;
beforeAll(async () => {
  opened = await replayBrowser([...nastySite(), ...awkwardSite()]);
});
afterAll(() => opened?.close());

/** Pages, each with where archived what it refers to is. */
const REFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [`${SITE}/dir/page`]: Object.fromEntries(Object.keys(KINDS).map((name) => [name, urlOfKind(name)])),
  ...Object.fromEntries(
    Object.entries(PAGES).map(([page, { references }]) => [
      `${AWKWARD}/pages/${page}`,
      Object.fromEntries(Object.keys(references).map((name) => [name, archivedAt(name)])),
    ]),
  ),
};
/** What is known to fail, and why. */
const MISSING: Readonly<Record<string, string>> = {
  "imp-data.css": "stands in a data: URL",
  "doc-write": "windows without a URL are of another origin, too",
  "doc-blank": "likewise",
  "doc-blank-fetch.json": "likewise",
  "frm-blank": "likewise",
  "frm-javascript": "is made by a script in an address",
  "mod-json.json": "data that a module may read, and who asks for it has no token",
  "mod-eval.js": "stands in a text that is evaluated",
  "scr-rule-style": "browsers tell no script of a rule that changes",
  "scr-eval.js": "stands in a text that is evaluated",
  "scr-function.js": "likewise",
  "old-path.png?word=%E2": "queries are taken for UTF-8",
};

const notLoaded = (): string[] => {
  const { served } = opened.server;
  const loaded = new Set([...served].flatMap(([path, status]) => (status < 300 ? [path.replace(/^\/\w*\//, "")] : [])));
  return Object.values(REFERENCES).flatMap((references) =>
    Object.entries(references).flatMap(([name, url]) => (loaded.has(url) ? [] : [name])),
  );
};

const open = async (page: Page, url: string): Promise<void> => {
  await page
    .goto(`${opened.server.url}/${TIMESTAMP}/${url}`, { waitUntil: "load", timeout: 60_000 })
    .catch(() => undefined);
};

it("loads from the archive whatever pages refer to, but for what only a script knows", async () => {
  const { page } = opened;
  for (const url of Object.keys(REFERENCES)) {
    await open(page, url);
    const mine = new Set(Object.keys(REFERENCES[url] ?? {}).filter((name) => !(name in MISSING)));
    await vi
      .waitFor(() => expect(notLoaded().filter((name) => mine.has(name))).toEqual([]), {
        timeout: 120_000,
        interval: 100,
      })
      .catch(() => undefined);
  }
  const missing = notLoaded();
  const total = Object.values(REFERENCES).reduce((sum, references) => sum + Object.keys(references).length, 0);
  console.info(`${total - missing.length} of ${total} references of ${Object.keys(REFERENCES).length} pages load`);
  expect(missing.filter((name) => !(name in MISSING))).toEqual([]);
  expect(total - missing.length).toBeGreaterThanOrEqual(240);
  expect(opened.trapped).toEqual([]);
});

it("asks nobody else, by whichever way a page or an answer to it names somebody", async () => {
  const { browser, server, trapped } = opened;
  for (const name of Object.keys(LEAVING)) {
    const url = `${server.url}/${TIMESTAMP}/${AWKWARD}/leaving/${name}`;
    const page = await browser.newPage();
    await open(page, `${AWKWARD}/leaving/${name}`);
    // what is asked for after it has arrived as well
    await page.evaluate("new Promise((done) => requestIdleCallback(done))");
    expect([name, page.url()]).toEqual([name, url]);
    await page.close();
  }
  const plain = await browser.newPage();
  for (const name of Object.keys(LEAVING)) {
    const url = `${server.url}/${TIMESTAMP}id_/${AWKWARD}/leaving/${name}`;
    await plain.goto(url, { waitUntil: "load" }).catch(() => undefined);
    expect([name, plain.url()]).toEqual([name, url]);
  }
  expect(trapped).toEqual([]);
  await plain.goto("http://control.test/").catch(() => undefined);
  expect(trapped).not.toEqual([]);
  await plain.close();
});
