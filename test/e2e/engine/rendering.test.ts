/** Pages that a browser opens: what becomes of them, what their sites see of it, and that they end with their job. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { busiestSecond } from "../../services/arrivals.ts";
import { DEFAULT_RPS as RPS, sharedRuntime } from "../../services/shared-runtime.ts";
import { type LargeSite, startLargeSite } from "../../sites/large-site.ts";
import { APP_TEXT } from "../../sites/single-page-application.ts";
import { html, type Site, startSite } from "../../sites/site.ts";
import { type Engine, engineOf, expectBooksToBalance, FULL_SPEED } from "./engine.ts";

let site: LargeSite;
let engine: Engine;
beforeAll(async () => {
  site = await startLargeSite({ pages: 10, linksPerPage: 2 });
  engine = engineOf(await sharedRuntime());
});
afterAll(async () => {
  await engine?.close();
  await site?.close();
});

interface Rendered {
  url: string;
  rendered: { reason?: unknown; renderer?: string; error?: unknown } | null;
}
const renderedOf = (jobId: string) =>
  engine.sql<Rendered[]>`select url, rendered from captures where job_id = ${jobId} order by id`;

it.each(["auto", "always"])(
  "an application of one page has its text and its links where render is %s",
  async (render) => {
    const { origin } = site.main;
    const before = site.main.requests.length;
    const job = await engine.store({
      seed_urls: [`${origin}/app`, `${origin}/charset/koi8-r`],
      max_depth: 1,
      config: { ...FULL_SPEED, render },
    });
    await engine.instance.waitForJob(job);
    const pages = new Map(
      (await engine.results(job, "include=markdown,links,content")).map((page) => [page.url, page]),
    );
    const app = pages.get(`${origin}/app`);
    expect(app?.markdown).toContain(APP_TEXT);
    expect(app?.content).toContain("This application needs JavaScript.");
    const items = Array.from({ length: 5 }, (_, at) => `${origin}/app/item/${at}`);
    expect(app?.links).toEqual(expect.arrayContaining(items));
    for (const [at, item] of items.entries()) expect(pages.get(item)?.markdown).toContain(`This is item ${at}`);
    const opened = (await renderedOf(job)).filter(({ rendered }) => rendered !== null).map(({ url }) => url);
    const everything = [...items, `${origin}/app`, `${origin}/charset/koi8-r`];
    expect(opened.toSorted()).toEqual((render === "auto" ? [`${origin}/app`] : everything).toSorted());
    const answer = await engine.send("GET", `/api/v1/crawl/${job}`);
    const told = (await answer.json()) as { results: { items: Rendered[] }; rendering: unknown };
    expect(told.rendering).toEqual({ wanted: opened.length, rendered: opened.length, unrendered: [] });
    const why = new Map(told.results.items.map((item) => [item.url, item.rendered]));
    expect(why.get(`${origin}/app`)).toEqual({
      reason: expect.stringMatching(render === "auto" ? /root .*; the HTML holds \d+ characters/ : /^always$/),
      renderer: "chromium",
      archived: true,
      error_code: null,
      error_message: null,
    });
    if (render === "auto") expect(why.get(`${origin}/app/item/0`)).toBeNull();
    expect(pages.get(`${origin}/charset/koi8-r`)?.markdown).toContain("Столица страны это Москва");
    // the browser gets the documents from the archive
    const asked = site.main.requests.slice(before).map(({ path }) => path);
    expect(asked.filter((path) => path === "/app")).toHaveLength(1);
    expect(asked.filter((path) => path === "/app/items.json")).toHaveLength(1);
    expect(await expectBooksToBalance(engine, job)).toEqual({ crawled: everything.length });
  },
);

it("redirects from elsewhere, robots.txt, rendered pages and pictures share one pace at their host; what scripts load has none", async () => {
  const script = "/behind.js";
  const text = `<!doctype html><html lang="en"><title>Page</title><main><p>${"The tide comes in. ".repeat(12)}</p></main><script src="${script}"></script>`;
  await using target = await startSite({ [script]: { body: "void 0" } }, () => html(text));
  await using source = await startSite({ "/robots.txt": { status: 404 } }, ({ url }) => ({
    status: 302,
    headers: { Location: `${target.origin}/from${url}` },
  }));
  const urls = (at: Site, folder: string, count: number) =>
    Array.from({ length: count }, (_, page) => `${at.origin}/${folder}/${page}`);
  const config = { rate_limit_rps: RPS };
  const post = (body: object) => engine.post<{ job_id: string }>("/api/v1/crawl", body).then(({ job_id }) => job_id);
  const jobs = await Promise.all([
    post({ urls: urls(source, "redirected", 6), config }),
    post({ urls: urls(target, "rendered", 4), config: { ...config, render: "always" } }),
    post({ urls: urls(target, "fetched", 4), config }),
  ]);
  // while crawls have the host's next slots there is none for a picture, which is told so; and a busy machine is too
  // late for one
  const picture = async (at: number) => {
    for (;;) {
      const { status } = await engine.send("POST", "/api/v1/screenshot", {
        url: `${target.origin}/picture/${at}`,
        wait_seconds: 0,
      });
      if (status !== 503 && status !== 504) return status;
    }
  };
  const pictures = await Promise.all([1, 2].map(picture));
  for (const job of jobs) await engine.instance.waitForJob(job);
  expect(pictures).toEqual([200, 200]);
  const documents = target.paths().filter((path) => path !== script && path !== "/favicon.ico");
  expect(documents.filter((path) => !path.startsWith("/picture/"))).toHaveLength(6 + 4 + 4);
  expect(new Set(documents).size).toBe(6 + 4 + 4 + 2);
  const asked = target.requests.filter(({ path }) => path !== script && path !== "/favicon.ico");
  expect(busiestSecond(asked)).toBeLessThanOrEqual(RPS);
  expect(busiestSecond(source.requests)).toBeLessThanOrEqual(RPS);
  expect(target.paths().filter((path) => path === script).length).toBeGreaterThanOrEqual(4);
});

it("a cancelled job closes the page that its browser has open: no request leaves later than 2 s after the answer", async () => {
  const restless = `<!doctype html><title>Restless</title><div id="root"></div><script>
    setInterval(() => fetch("/poll?" + performance.now()), 50)</script>`;
  await using busy = await startSite({ "/poll": { body: "still here" } }, () => html(restless));
  const { job_id } = await engine.post<{ job_id: string }>("/api/v1/crawl", {
    urls: Array.from({ length: 6 }, (_, page) => `${busy.origin}/restless/${page}`),
    config: { ...FULL_SPEED, render: "always", wait_for: "#never", page_timeout_ms: 30_000 },
  });
  const polls = () => busy.requests.filter(({ path }) => path.startsWith("/poll")).length;
  await expect.poll(polls).toBeGreaterThan(5);
  await engine.post(`/api/v1/crawl/${job_id}/cancel`, undefined);
  const answeredAt = Date.now();
  const view = () => engine.instance.call<{ status: string; rendering: unknown }>("GET", `/api/v1/crawl/${job_id}`);
  await expect.poll(async () => (await view()).status).toBe("cancelled");
  expect((await view()).rendering).toMatchObject({ rendered: 0, unrendered: [{ code: "CANCELLED" }] });
  // another job's page is opened meanwhile, by the same browser
  const other = await engine.store({
    seed_urls: [`${site.main.origin}/app`],
    max_depth: 0,
    config: { ...FULL_SPEED, render: "always" },
  });
  await engine.instance.waitForJob(other);
  await expect.poll(() => Date.now() - answeredAt).toBeGreaterThan(3_500);
  const late = busy.requests
    .map(({ path, since }) => [path, since - answeredAt] as const)
    .filter(([, ms]) => ms > 2_000);
  expect(late).toEqual([]);
  await expectBooksToBalance(engine, job_id);
});
