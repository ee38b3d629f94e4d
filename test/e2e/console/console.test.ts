/** The console in a browser: as a person goes with the mouse or the keyboard alone, and before pages of strangers. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type ConsoleSetup, consoleSetup, openView } from "../../services/console-page.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { keyboardPerson, mousePerson } from "./persons.ts";
import { givePicture } from "./picture.ts";

let setup: ConsoleSetup;
const sites: Site[] = [];
beforeAll(async () => {
  setup = await consoleSetup();
});
afterAll(async () => {
  await setup?.close();
  for (const site of sites) await site.close();
});

it.each([
  { hand: "the mouse", width: 1440, personOf: mousePerson },
  { hand: "the keyboard alone", width: 360, personOf: keyboardPerson },
])("a visitor crawls a site, finds a page and sees it replayed, by $hand at $width px", async ({ width, personOf }) => {
  const word = `zephyrine${width}`;
  const site = await startSite({
    "/": html(`<h1>Harbour</h1><p>All about boats and tides.</p><a href="/wind">Wind</a>`),
    "/wind": html(`<title>About ${word}</title><h1>Wind</h1><p>The ${word} blows from the west in the evening.</p>`),
  });
  sites.push(site);
  const { page, asked, complaints, close } = await setup.open({ width });
  const person = personOf(page);
  const textOf = async (selector: string): Promise<string> =>
    await page.$eval(selector, ({ textContent }) => textContent ?? "").catch(() => "");

  await person.fill("API key", setup.instance.apiKey);
  await person.press("Open the console");
  await person.press("New crawl");
  await person.fill("Address", `${site.origin}/`);
  await person.press("Crawl the site");
  await expect.poll(() => textOf(".state")).toBe("completed");
  await expect.poll(() => textOf("main")).toContain(`About ${word}`);
  await person.press("Search");
  await person.fill("What do you look for?", word);
  await expect.poll(() => textOf("mark")).toBe(word);
  await person.press(`Archived page: About ${word}`);
  await expect.poll(() => archivedText(page)).toContain(`The ${word} blows from the west`);

  const own = [`${setup.instance.url}/`, "data:"];
  expect(asked.filter((each) => !own.some((start) => each.startsWith(start)))).toEqual([]);
  expect(asked.filter((each) => each.includes(setup.instance.apiKey))).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(complaints).toEqual([]);
  expect(setup.trapped).toEqual([]);
  await close();
});

it.each([
  { hand: "the mouse", width: 1440, personOf: mousePerson },
  { hand: "the keyboard alone", width: 360, personOf: keyboardPerson },
])(
  "a person has a site crawled on a schedule, hears of each crawl, and sees what changed, by $hand at $width px",
  async ({ width, personOf }) => {
    const name = `Pilots ${width}`;
    const site = await startSite({
      "/": html("<title>Pilots</title><h1>Pilots</h1><p>The harbour has three pilots, who work by day.</p>"),
      "/hook": { status: 200, body: "heard" },
    });
    sites.push(site);
    const { page, complaints, close } = await setup.open({ width });
    const person = personOf(page);
    const textOf = async (selector: string): Promise<string> =>
      await page.$eval(selector, ({ textContent }) => textContent ?? "").catch(() => "");
    const heard = (): number => site.requests.filter(({ path }) => path === "/hook").length;

    await person.fill("API key", setup.instance.apiKey);
    await person.press("Open the console");
    await person.press("Webhooks");
    await person.fill("Address of the receiver", `${site.origin}/hook`);
    await person.press("Create the webhook");
    await expect.poll(() => textOf(".copyable figcaption")).toContain("Secret");
    await person.press("Sources");
    await person.fill("Name", name);
    await person.fill("Address", `${site.origin}/`);
    await person.fill("Schedule", "0 5 1 1 *");
    await person.press("Create the source");
    await expect.poll(() => textOf("h1")).toBe(name);
    expect(await page.$$eval("main ol time", (times) => times.length)).toBe(5);
    await person.press("Crawl now");
    await expect.poll(() => textOf(".state")).toBe("completed");

    site.route({
      "/": html("<title>Pilots</title><h1>Pilots</h1><p>The harbour has four pilots, who work by night.</p>"),
    });
    await person.press("Sources");
    await person.press(name);
    await expect.poll(() => textOf("h1")).toBe(name);
    await person.press("Crawl now");
    await expect.poll(() => textOf("h1")).not.toBe(name);
    await expect.poll(() => textOf(".state")).toBe("completed");

    await person.press("Webhooks");
    await person.press(`${site.origin}/hook`);
    await expect
      .poll(async () => {
        await person.press("Look again");
        return await page.$$eval(".state.good", (states) => states.length);
      })
      .toBeGreaterThanOrEqual(2);
    const before = heard();
    await person.press(
      await page.$eval("button[aria-label^='Send again: crawl']", (button) => button.getAttribute("aria-label") ?? ""),
    );
    await expect.poll(heard).toBe(before + 1);

    await person.press("Archive");
    await person.fill("Address of a page", `${site.origin}/`);
    await person.press("Show its captures");
    await person.chooseNext("Compare with the capture of");
    await expect.poll(() => textOf(".diff ins")).toContain("four pilots");
    expect(await textOf(".diff del")).toContain("three pilots");
    await expect.poll(() => page.$$eval(".columns iframe", (frames) => frames.length)).toBe(2);

    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(complaints).toEqual([]);
    await close();
  },
);

it("tells what a key has used and what its quotas are, and of all keys to those who administrate", async () => {
  const site = await startSite({
    "/": html(`<title>Locks</title><p>Two locks lead to the sea.</p><a href="/two">Two</a>`),
    "/two": html("<title>Lock two</title><p>The second lock is older than the first one.</p>"),
  });
  sites.push(site);
  const { instance } = setup;
  const quotas = { jobs_per_day: 9, pages_per_day: 5000, max_stored_bytes: 3_000_000 };
  const { key } = await instance.call<{ key: string }>("POST", "/api/v1/api-keys", {
    name: "Lock keeper",
    scopes: ["read", "write"],
    ...quotas,
  });
  const opened = await setup.open({ width: 360 });
  const text = async (): Promise<string> => await opened.page.$eval("main", ({ textContent }) => textContent ?? "");
  await openView(opened, key, "/");
  await expect.poll(text).toContain("Nothing was fetched or stored this month");
  expect(await text()).toContain("Pages today0 of 5,000");
  const crawl = await fetch(`${instance.url}/api/v1/crawl/deep`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: `${site.origin}/` }),
  });
  await instance.waitForJob(((await crawl.json()) as { job_id: string }).job_id);

  const rows = async (): Promise<string[][]> =>
    await opened.page.$$eval("section.panel table", (tables) =>
      tables
        .filter(({ textContent }) => textContent?.includes("This key"))
        .flatMap((table) =>
          [...table.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.textContent ?? "")),
        ),
    );
  await openView(opened, key, "/");
  await expect.poll(rows).toEqual([
    ["What", "This key"],
    ["Jobs begun", "1"],
    ["Pages fetched", "2"],
    ["Bytes fetched", expect.stringMatching(/^[\d.]+ (bytes|KB)$/)],
    ["Documents made", "2"],
    ["Stored now", expect.stringMatching(/^[\d.]+ (bytes|KB)$/)],
  ]);
  expect(await text()).toMatch(/Pages today2 of 5,000Jobs today1 of 9Stored by this key[\d.]+ (bytes|KB) of 3 MB/);
  await openView(opened, instance.apiKey, "/");
  await expect.poll(async () => (await rows())[0]).toEqual(["What", "This key", "All keys"]);
  expect(opened.complaints).toEqual([]);
  await opened.close();
});

it("deletes an export with its file, once it has asked", async () => {
  const site = await startSite({ "/": html("<title>Weir</title><p>The weir holds the river back in spring.</p>") });
  sites.push(site);
  const { instance } = setup;
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", { url: `${site.origin}/` });
  await instance.waitForJob(job_id);
  const { id } = await instance.call<{ id: string }>("POST", "/api/v1/exports", { job_id });
  const statusOf = async (): Promise<string> =>
    (await instance.call<{ status: string }>("GET", `/api/v1/exports/${id}`)).status;
  await expect.poll(statusOf).toBe("completed");
  const opened = await setup.open({ width: 360 });
  const text = async (): Promise<string> => await opened.page.$eval("main", ({ textContent }) => textContent ?? "");
  await openView(opened, instance.apiKey, "/settings");
  const person = keyboardPerson(opened.page);
  await person.press(`Delete ${job_id}.wacz`);
  await opened.page.waitForSelector("dialog[open]");
  expect(await opened.page.$eval("dialog[open]", ({ textContent }) => textContent)).toMatch(
    /Its file of [\d.]+ (bytes|KB) goes for good/,
  );
  expect(await statusOf()).toBe("completed");
  await opened.page.click("dialog[open] button.danger");
  await expect.poll(text).toMatch(new RegExp(`${job_id}\\.wacz is deleted, and its [\\d.]+ (bytes|KB) with it`));
  await expect(statusOf()).rejects.toThrow("404");
  expect(opened.complaints).toEqual([]);
  await opened.close();
});

it("shows the screenshots of compared captures, and says of each that has none", async () => {
  const site = await startSite({ "/": html("<title>Pier</title><p>The pier has one lamp at its end.</p>") });
  sites.push(site);
  const { instance } = setup;
  const url = `${site.origin}/`;
  const crawl = async (): Promise<void> => {
    const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", { url, cache: "bypass" });
    await instance.waitForJob(job_id);
  };
  await crawl();
  site.route({ "/": html("<title>Pier</title><p>The pier has two lamps at its end.</p>") });
  await crawl();
  const { snapshotId } = await instance.call<{ snapshotId: number }>(
    "GET",
    `/api/replay/resolve?url=${encodeURIComponent(url)}`,
  );
  const { snapshots } = await instance.call<{ snapshots: { snapshotId: number; captureTimestamp: string }[] }>(
    "GET",
    `/api/snapshots/${snapshotId}/timeline`,
  );
  const [before, after] = snapshots;
  const view = `/archive?url=${encodeURIComponent(url)}&at=${after?.snapshotId}&with=${before?.snapshotId}`;
  const opened = await setup.open({ width: 360, scheme: "dark" });
  const shown = async (): Promise<string> =>
    await opened.page
      .$eval("section[aria-label=Screenshots]", ({ textContent }) => textContent ?? "")
      .catch(() => "nothing");
  await openView(opened, instance.apiKey, view);
  await expect.poll(shown).toContain("Neither capture has a screenshot");
  expect(await faultsOf(opened.page)).toEqual([]);

  await opened.page.setViewport({ width: 1280, height: 800 });
  const picture = await opened.page.screenshot({ type: "webp" });
  await opened.page.setViewport({ width: 360, height: 900 });
  await givePicture(instance, after?.snapshotId ?? 0, picture);
  await openView(opened, instance.apiKey, view);
  await expect.poll(shown).toContain("This capture has no screenshot");
  await opened.page.$eval("section[aria-label=Screenshots] figure:last-child", (figure) => figure.scrollIntoView());
  const pictures = async () =>
    await opened.page.$$eval("section[aria-label=Screenshots] img", (all) =>
      all.map(({ alt, naturalWidth, src }) => ({ alt, naturalWidth, from: src.slice(0, 5) })),
    );
  await expect
    .poll(pictures)
    .toEqual([{ alt: expect.stringContaining(`Screenshot of ${url}, captured `), naturalWidth: 1280, from: "blob:" }]);
  expect((await pictures())[0]?.alt).toMatch(/\d{4}/);
  expect(await faultsOf(opened.page)).toEqual([]);
  expect(await opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  const own = [`${instance.url}/`, `blob:${instance.url}/`, "data:"];
  expect(opened.asked.filter((each) => !own.some((start) => each.startsWith(start)))).toEqual([]);
  expect(opened.complaints).toEqual([]);
  await opened.close();
});

it("shows a long list by the rows in sight alone, and finds the others", async () => {
  const links = Array.from({ length: 60 }, (_, at) => `<a href="/page/${at}">Page ${at}</a>`).join(" ");
  const site = await startSite(
    { "/": html(`<title>Sixty</title><p>Sixty pages are here.</p>${links}`) },
    ({ url = "" }) =>
      html(`<title>Number ${url.split("/").at(-1)}.</title><p>This is the page at ${url} and nothing else.</p>`),
  );
  sites.push(site);
  const { instance } = setup;
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", { url: `${site.origin}/` });
  await instance.waitForJob(job_id);
  const opened = await setup.open({ width: 360 });
  const { page } = opened;
  await openView(opened, instance.apiKey, `/jobs/${job_id}`);
  await page.waitForSelector('.long table[aria-rowcount="62"]');
  expect(await page.$$eval(".long tbody tr", (rows) => rows.length)).toBeLessThan(40);
  const person = keyboardPerson(page);
  const last = await instance.call<{ pages: { title: string }[] }>("GET", `/api/v1/jobs/${job_id}/results?cursor=60`);
  await person.fill("Find in pages", last.pages[0]?.title ?? "");
  await person.press("Find next");
  // the row has the focus, is told as the one that it is, and those above are gone
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-rowindex')")).toBe("62");
  expect(await page.$$eval('.long [aria-rowindex="2"]', (rows) => rows.length)).toBe(0);
  // by the keys of the list itself
  await page.$eval(".long", (list) => (list as unknown as { focus(): void }).focus());
  await page.keyboard.press("Home");
  await expect.poll(() => page.$$eval('.long [aria-rowindex="2"]', (rows) => rows.length)).toBe(1);
  await opened.close();
});

it("takes a file that is larger than a request may be, by a link to the storage", async () => {
  const folder = await mkdtemp(join(tmpdir(), "console upload-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "lighthouse.html");
  const words = "<title>Lighthouse</title><p>The ombrascope turns above the harbour all night long.</p>";
  await writeFile(file, `<!doctype html><!-- ${"x".repeat(5_000_000)} -->${words}`);
  const opened = await setup.open({ width: 360 });
  await openView(opened, setup.instance.apiKey, "/knowledge");
  const [chooser] = await Promise.all([opened.page.waitForFileChooser(), opened.page.click("input[type=file]")]);
  await chooser.accept([file]);
  const said = () => opened.page.$eval(".drop + ul", ({ textContent }) => textContent ?? "");
  await expect.poll(said).toMatch(/^lighthouse\.html: created, 1 passages$/);
  const { results } = await setup.instance.call<{ results: { title: string }[] }>("POST", "/api/v1/search/keyword", {
    query: "ombrascope",
  });
  expect(results.map(({ title }) => title)).toEqual(["Lighthouse"]);
  const elsewhere = opened.asked.filter((each) => !each.startsWith(`${setup.instance.url}/`) && !/^data:/.test(each));
  expect(elsewhere).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\w+\/uploads\/.*X-Amz-Signature=/)]);
  expect(opened.complaints).toEqual([]);
  await opened.close();
});

it("loads at most 150 KB of script before the first view is there", async () => {
  const opened = await setup.open();
  await openView(opened, setup.instance.apiKey, "/");
  // the entry and the home view, twice: once without a key, and once with it
  expect(opened.scriptBytes()).toBeGreaterThan(5_000);
  expect(opened.scriptBytes()).toBeLessThan(150_000);
  await opened.close();
});

it("has no view that axe finds fault with, light or dark, and none that a hostile page takes over", async () => {
  const site = await startSite({
    "/": html(`<title>${HOSTILE}</title><h1>${HOSTILE}</h1>${links}<p>Text of the quagga. ${HOSTILE}</p>${ACTIVE}`),
    "/a": html(`<title>${HOSTILE} a</title><p>More about the quagga, ${HOSTILE} as well, for some words.</p>${ACTIVE}`),
  });
  sites.push(site);
  const { instance } = setup;
  const { job_id } = await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", { url: `${site.origin}/` });
  await instance.waitForJob(job_id);
  // another generation of the same site, to be compared
  site.route({
    "/a": html(`<title>${HOSTILE} b</title><p>The quagga is gone, ${HOSTILE} and more words.</p>${ACTIVE}`),
  });
  const again = { url: `${site.origin}/`, cache: "bypass" };
  await instance.waitForJob((await instance.call<{ job_id: string }>("POST", "/api/v1/crawl/deep", again)).job_id);
  const documents = await instance.call<{ items: { id: string }[] }>("GET", "/api/v1/documents?limit=10");
  const source = await instance.call<{ id: string }>("POST", "/api/v1/sources", {
    name: RAW,
    url: `${site.origin}/`,
  });
  const webhook = await instance.call<{ id: string }>("POST", "/api/v1/webhooks", {
    url: `${site.origin}/hook?"><img src=x onerror=taken=1>`,
    events: ["crawl.completed"],
  });
  await instance.call("POST", "/api/v1/configs", { name: RAW });
  await instance.call("POST", "/api/v1/exports", { job_id });
  await instance.call("POST", "/api/v1/proxies", { name: RAW, servers: [{ url: "http://127.0.0.1:9" }] });
  const views = [
    "/",
    "/crawl",
    "/jobs",
    `/jobs/${job_id}`,
    "/search?q=quagga",
    `/archive?url=${encodeURIComponent(`${site.origin}/`)}`,
    "/sources",
    `/sources/${source.id}`,
    "/webhooks",
    "/knowledge",
    `/knowledge/${documents.items[0]?.id}`,
    "/settings",
    "/crawl?kind=scrape",
    `/webhooks/${webhook.id}`,
  ];
  for (const look of [{ scheme: "light" }, { scheme: "dark", width: 360 }] as const) {
    const opened = await setup.open(look);
    for (const view of views) {
      await openView(opened, instance.apiKey, view);
      await ACTS[view]?.(opened.page, site);
      // whatever can be opened is
      await opened.page.$$eval("details", (all) => {
        for (const each of all) (each as unknown as { open: boolean }).open = true;
      });
      const found = await faultsOf(opened.page);
      expect({ view, found }).toEqual({ view, found: [] });
      expect(await opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      // nothing of what strangers wrote has become an element, or has run
      expect(await opened.page.$$eval("img, script:not([src]), svg:not(.line), #taken", (all) => all.length)).toBe(0);
      expect(await opened.page.evaluate("globalThis.taken")).toBeUndefined();
      expect(
        await opened.page.$$eval("a", (all) => all.filter(({ protocol }) => protocol === "javascript:").length),
      ).toBe(0);
    }
    expect(opened.complaints).toEqual([]);
    const own = [`${instance.url}/`, "data:"];
    expect(opened.asked.filter((each) => !own.some((start) => each.startsWith(start)))).toEqual([]);
    await opened.close();
  }
  expect(setup.trapped).toEqual([]);
});

/** What axe finds, by rule and element. */
async function faultsOf(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return await page.evaluate(
    "axe.run({ iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))",
  );
}

/** What a person does in a view before it is looked at. */
const ACTS: Record<string, (page: Page, site: Site) => Promise<void>> = {
  async "/settings"(page) {
    await page.click("button[aria-label^='Show ']");
    await page.waitForSelector("section.domain dl");
    await page.click("button[aria-label^='Test ']");
    await page.waitForSelector("[role=status] li");
  },
  async "/crawl?kind=scrape"(page, site) {
    await mousePerson(page).fill("Address", `${site.origin}/a`);
    await page.keyboard.press("Enter");
    await page.waitForSelector("pre.scraped");
  },
  async "/knowledge"(page) {
    await page.click("button[aria-label^='What changed until']");
    await page.waitForSelector("section[aria-label='What changed between the generations'] tbody tr");
  },
};

/** As text, which a title and a heading show; were it markup, it would run, ask elsewhere, or stand in the page. */
const HOSTILE = [
  "&lt;img src=x onerror=&quot;taken=1&quot;&gt;",
  "&lt;script&gt;taken=1&lt;/script&gt;",
  "&lt;b id=taken&gt;",
  "&quot;&gt;&lt;svg onload=&quot;taken=1&quot;&gt;",
].join(" ");

const RAW = `<img src=x onerror="taken=1"><script>taken=1</script><b id=taken>`;

const links = [
  `<a href="/a">one</a>`,
  `<a href="/a?&quot;&gt;&lt;img src=http://stranger.example/&gt;">two</a>`,
  `<a href="javascript:taken=1">three</a>`,
].join("");

/** What really is a program, in the page that is archived. */
const ACTIVE = `<script>taken = 1; parent.taken = 1; top.location = "http://stranger.example/top";
  fetch("http://stranger.example/fetch"); new Image().src = "http://stranger.example/image";</script>
  <svg xmlns="http://www.w3.org/2000/svg"><script>top.taken = 1</script></svg>`;

/** Of all frames: replay shows the page in a frame of its own, below what it says of it. */
async function archivedText(page: Page): Promise<string> {
  const frames = page.frames().filter((frame) => frame !== page.mainFrame());
  const text = ({ textContent }: { textContent: string | null }): string => textContent ?? "";
  return (await Promise.all(frames.map((frame) => frame.$eval("body", text).catch(() => "")))).join("\n");
}
