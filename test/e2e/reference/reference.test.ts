/** The reference of the API in a browser: read, filtered and tried, under its own policy. */
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Instance, startInstance } from "../../services/instance.ts";
import { type TrappedBrowser, trappedBrowser } from "../../services/trapped-browser.ts";

let instance: Instance;
let trapped: TrappedBrowser;
beforeAll(async () => {
  [instance, trapped] = await Promise.all([startInstance(), trappedBrowser()]);
});
afterAll(async () => {
  await trapped?.close();
  await instance?.stop();
});

interface Opened {
  page: Page;
  asked: string[];
  complaints: string[];
}

async function open(scheme: "light" | "dark" = "light", width = 1280): Promise<Opened> {
  const context = await trapped.browser.createBrowserContext();
  const page = await context.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.exposeFunction("complain", (text: string) => complaints.push(text));
  await page.evaluateOnNewDocument(`
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      complain(violatedDirective + " " + blockedURI));
    addEventListener("error", ({ message }) => complain(message));
    addEventListener("unhandledrejection", ({ reason }) => complain(String(reason)));`);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  return { page, asked, complaints };
}

const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, ({ textContent }) => textContent ?? "").catch(() => "");

it("leads a browser from the root to an operation, which is tried with a key that the console then has", async () => {
  const { page, asked, complaints } = await open();
  await page.goto(`${instance.url}/`);
  await Promise.all([page.waitForNavigation(), page.click('main a[href="./docs"]')]);
  await page.type("input[type=search]", "post /api/v1/crawl/deep");
  await expect.poll(() => textOf(page, ".filter output")).toMatch(/^\d+ of \d+ operations$/);
  expect(await page.$$eval(".operations li:not([hidden])", (all) => all.length)).toBe(1);

  await page.goto(`${instance.url}/docs/listJobs`);
  await page.type("input[data-part=key]", instance.apiKey);
  await page.click("input[data-part=keep]");
  await page.click(".try button[type=submit]");
  await expect.poll(() => textOf(page, ".outcome")).toMatch(/^200/);
  await expect.poll(() => textOf(page, ".answer")).toContain('"items": []');
  expect(await page.evaluate('sessionStorage.getItem("strandline.key")')).toBe(instance.apiKey);

  await page.goto(`${instance.url}/docs/search`);
  await page.waitForSelector(".try:not([hidden])");
  await page.click(".try button[type=submit]");
  await expect.poll(() => textOf(page, ".answer")).toContain('"results"');

  await page.goto(`${instance.url}/console/`, { waitUntil: "networkidle2" });
  await page.waitForSelector("#view h1");
  expect(asked.filter((url) => url.includes(instance.apiKey))).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(`${instance.url}/`) && !url.startsWith("data:"))).toEqual([]);
  expect(complaints).toEqual([]);
  expect(trapped.trapped).toEqual([]);
});

it("has no page that axe finds fault with, light or dark, and none wider than the window", async () => {
  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 360],
  ] as const) {
    const { page, complaints } = await open(scheme, width);
    for (const path of ["/", "/docs", "/docs/crawlSite", "/docs/search", "/docs/listJobs", "/docs/deleteTag"]) {
      await page.goto(`${instance.url}${path}`);
      await page.evaluate(axe.source);
      const found = await page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))",
      );
      expect({ path, found }).toEqual({ path, found: [] });
      expect({ path, fits: await page.evaluate("document.documentElement.scrollWidth <= innerWidth") }).toEqual({
        path,
        fits: true,
      });
    }
    expect(complaints).toEqual([]);
  }
});
