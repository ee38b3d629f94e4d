import { expect, test } from "vitest";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { type ScopeRequest, scopeOfSeeds } from "../../../../shared/crawl/urls/scope-of-seeds.ts";
import { html, redirect, startSite } from "../../../sites/site.ts";
import { crawlSetup, newSiteJob, page, type Site } from "../crawl-setup.ts";
import { expectBooksToBalance, realCrawl } from "../real-crawl.ts";

const config = crawlConfigSchema.parse({ rate_limit_rps: 1000 });

/** What becomes of each URL below `/docs/`, as the site redirects it. */
async function crawlRedirects(request: ScopeRequest) {
  await using elsewhere = await startSite({
    "/": html(page("Elsewhere", ["/more"], 10)),
    "/more": html(page("More", [], 10)),
  });
  await using site = await startSite({
    "/docs/": html(page("Docs", ["inside", "outside", "away", "private"], 10)),
    "/docs/inside": redirect("/docs/target"),
    "/docs/target": html(page("Target", ["linked"], 10)),
    "/docs/linked": html(page("Linked", [], 10)),
    "/docs/outside": redirect("/blog/"),
    "/blog/": html(page("Blog", ["post"], 10)),
    "/blog/post": html(page("Post", [], 10)),
    "/docs/away": redirect(`${elsewhere.origin}/`),
    "/docs/private": redirect("/docs/secret/"),
    "/docs/secret/": html(page("Secret", ["plans"], 10)),
    "/docs/secret/plans": html(page("Plans", [], 10)),
  });
  const crawl = await realCrawl();
  const seed = `${site.origin}/docs/`;
  const [job] = await crawl.run(newSiteJob(seed, { config, scope: scopeOfSeeds([seed], request) }));
  await expectBooksToBalance(crawl.sql, job?.job_id ?? "");
  const rows = await crawl.sql<{ url: string; outcome: string }[]>`
    select url, coalesce(error_code, state) as outcome from frontier`;
  const documents = await crawl.sql<{ url: string }[]>`select url from documents_active`;
  const name = (url: string): string =>
    url.startsWith(site.origin) ? url.slice(site.origin.length) : `elsewhere${new URL(url).pathname}`;
  return {
    outcomes: Object.fromEntries(rows.map(({ url, outcome }) => [name(url), outcome])),
    documents: documents.map(({ url }) => name(url)).sort(),
    asked: [...site.paths(), ...elsewhere.paths().map((path) => `elsewhere${path}`)],
  };
}

const HERE = { "/docs/": "crawled", "/docs/inside": "crawled", "/docs/linked": "crawled" };

test("a redirect to another host is out of the scope `host`, and is not asked for", async () => {
  const { outcomes, documents, asked } = await crawlRedirects({ mode: "host" });
  expect(outcomes).toMatchObject({
    ...HERE,
    "/docs/outside": "crawled",
    "/blog/post": "crawled",
    "/docs/away": "OUT_OF_SCOPE",
  });
  expect(asked.filter((path) => path.startsWith("elsewhere"))).toEqual([]);
  // links of a redirected page are resolved against where it led
  expect(documents).toEqual(expect.arrayContaining(["/blog/", "/blog/post", "/docs/linked", "/docs/target"]));
});

test("a redirect to another host of the same registrable domain is within the scope `domain`", async () => {
  const { outcomes } = await crawlRedirects({ mode: "domain" });
  expect(outcomes).toMatchObject({ ...HERE, "/docs/away": "crawled", "elsewhere/more": "crawled" });
});

test("a redirect to another path is out of the scope `prefix`, and is not asked for", async () => {
  const { outcomes, asked } = await crawlRedirects({ mode: "prefix" });
  expect(outcomes).toMatchObject({
    ...HERE,
    "/docs/outside": "OUT_OF_SCOPE",
    "/docs/away": "OUT_OF_SCOPE",
    "/docs/private": "crawled",
  });
  expect(asked).not.toContain("/blog/");
});

test("nothing is out of the scope `any`", async () => {
  const { outcomes } = await crawlRedirects({ mode: "any" });
  expect(Object.values(outcomes).every((outcome) => outcome === "crawled")).toBe(true);
});

test("a page that redirects to what a pattern excludes is neither indexed nor followed", async () => {
  const { outcomes, documents } = await crawlRedirects({ mode: "host", exclude: ["/secret/"] });
  expect(outcomes).toMatchObject({ ...HERE, "/docs/private": "OUT_OF_SCOPE" });
  expect(Object.keys(outcomes).filter((path) => path.includes("secret"))).toEqual([]);
  expect(documents.filter((path) => path.includes("secret"))).toEqual([]);
});

test("a page that redirects to what no pattern includes is out of scope, and the seed need not match", async () => {
  const { outcomes } = await crawlRedirects({ mode: "host", include: ["/docs/[a-z]+$"] });
  expect(outcomes).toEqual({
    ...HERE,
    "/docs/outside": "OUT_OF_SCOPE",
    "/docs/away": "OUT_OF_SCOPE",
    "/docs/private": "OUT_OF_SCOPE",
  });
});

test("what redirects to another root of a job of very many is followed there as a link", async () => {
  const setup = await crawlSetup();
  const seeds = Array.from({ length: 60 }, (_, at) => `http://s${at}.example/`);
  const job = await createJob(setup.dependencies, {
    ...newSiteJob("http://s0.example/"),
    seeds,
    scope: scopeOfSeeds(seeds, { mode: "host" }),
  });
  const site: Site = (url) => {
    if (url !== "http://s7.example/") return { html: page(url, [], 10) };
    const error = { code: "OUT_OF_SCOPE", message: "s8.example is outside the scope of the job", retryable: false };
    return { finalUrl: "http://s8.example/found", status: 301, error };
  };
  await setup.crawl(site);
  const rows =
    await setup.sql`select url, state, depth from frontier where url like '%found' or url = 'http://s7.example/'`;
  expect(rows).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ url: "http://s8.example/found", state: "crawled", depth: 1 }),
      expect.objectContaining({ url: "http://s7.example/", state: "skipped" }),
    ]),
  );
  expect((await readJob(setup.sql, job.job_id))?.counts.crawled).toBe(60);
});
