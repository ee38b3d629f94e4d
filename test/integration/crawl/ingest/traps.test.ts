import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { checkCapturedPages } from "../../../../shared/crawl/ingest/capture-checks.ts";
import type { LockedPage } from "../../../../shared/crawl/ingest/captured-page.ts";
import { lockJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { crawlConfigSchema } from "../../../../shared/crawl/settings/crawl-config.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { inTransaction } from "../../../../shared/platform/database/database.ts";
import { crawlSetup, newSiteJob, page, type Site } from "../crawl-setup.ts";
import { crawlTrap, ORIGIN } from "../trap-crawl.ts";

test("a calendar without end and without events is left after some months, and a few refused links tell why", async () => {
  const { fetched, codes } = await crawlTrap("/calendar/2024/01");
  expect(fetched.length).toBeGreaterThan(50);
  expect(fetched.length).toBeLessThan(1000);
  expect(codes["TRAP_CALENDAR"]).toBeGreaterThan(0);
  expect(codes["TRAP_CALENDAR"]).toBeLessThanOrEqual(20);
});

test("a dated archive whose days have something to say is crawled to its end", async () => {
  const days = Array.from({ length: 120 }, (_, at) =>
    new Date(Date.UTC(2020, 0, 1 + at * 5)).toISOString().slice(0, 10).replaceAll("-", "/"),
  );
  const things = ["tide", "wall", "crane", "gull", "rope", "light", "bell"];
  const site: Site = (url) => {
    const at = days.indexOf(url.slice(`${ORIGIN}/diary/`.length));
    const seen = things.filter((_, bit) => (((at + 1) >> bit) & 1) === 1);
    const links = days.slice(at + 1, at + 13).map((day) => `/diary/${day}`);
    return { html: page(`Seen today: the ${seen.join(" and the ")}`, links, 10) };
  };
  const { fetched, codes } = await crawlTrap(`/diary/${days[0]}`, site);
  expect(fetched).toHaveLength(120);
  expect(codes).toEqual({ crawled: 120 });
});

test("a page has one URL, whatever session its links carry, and no session is sent", async () => {
  const { fetched, codes } = await crawlTrap("/shop/");
  // each item, and each with its parameter `page`, which is no session
  expect(fetched).toHaveLength(1 + 2 * 20);
  expect(fetched.filter((path) => /session|sid/i.test(path))).toEqual([]);
  expect(codes).toEqual({ crawled: 41 });
});

test("paths that repeat themselves end at the third time", async () => {
  const { fetched, codes } = await crawlTrap("/maze/");
  expect(fetched.length).toBeLessThan(200);
  expect(fetched.filter((path) => path.includes("products/list/products/list/products/list"))).toEqual([]);
  expect(codes["TRAP_PATH"]).toBeGreaterThan(0);
  expect(codes["TRAP_PATH"]).toBeLessThanOrEqual(20);
});

test("one body under endlessly many URLs is indexed some fifty times and then followed no more", async () => {
  const { codes, setup, job_id } = await crawlTrap("/mirror/");
  // batches that are ingested at the same time do not see each other's
  expect(codes["crawled"]).toBeGreaterThanOrEqual(50);
  expect(codes["crawled"]).toBeLessThanOrEqual(100);
  expect(codes["DUPLICATE_CONTENT"]).toBeGreaterThan(0);
  const [rows] = await setup.sql<{ documents: number; archived: number; refused: number }[]>`
    select (select count(*)::int from documents where job_id = ${job_id}) as documents,
      (select count(*)::int from captures where job_id = ${job_id} and warc_key is not null) as archived,
      (select count(*)::int from captures where job_id = ${job_id} and error_code = 'DUPLICATE_CONTENT') as refused`;
  expect(rows).toEqual({
    documents: codes["crawled"],
    archived: (codes["crawled"] ?? 0) + (codes["DUPLICATE_CONTENT"] ?? 0),
    refused: codes["DUPLICATE_CONTENT"],
  });
  // no more than what the first ones had led to
  expect(codes["DUPLICATE_CONTENT"]).toBeLessThanOrEqual(4 * (codes["crawled"] ?? 0));
});

test("one main text under endlessly many URLs is followed no more after some fifty, however many bytes differ", async () => {
  let token = 0;
  const site: Site = (url) => {
    token += 1;
    const links = Array.from({ length: 4 }, (_, at) => `/t/${token.toString(36)}x${at}`);
    const same = page("Welcome", links, 40).replace(
      "</head>",
      `<link rel="canonical" href="${url}"><meta name="csrf" content="${token}"></head>`,
    );
    const mark = createHash("sha256").update(String(token)).digest();
    const passing = `${mark.toString("hex", 0, 5)}0a1b ${mark.toString("base64")} ${encodeURIComponent(url)}`;
    return {
      html: url.endsWith("/start")
        ? page("Start", links, 60)
        : same.replace(/>\/t\/[^<]*</g, ">next<").replace("</p>", ` ${passing}</p>`),
    };
  };
  const { codes } = await crawlTrap("/start", site);
  expect(codes["crawled"]).toBeGreaterThanOrEqual(51);
  expect(codes["crawled"]).toBeLessThanOrEqual(101);
  expect(codes["DUPLICATE_CONTENT"]).toBeGreaterThan(0);
  expect(codes["DUPLICATE_CONTENT"]).toBeLessThanOrEqual(4 * (codes["crawled"] ?? 0));
});

test("how many pages of a large job are the same is counted without reading its other captures", async () => {
  const { sql, dependencies } = await crawlSetup();
  const { job_id } = await createJob(dependencies, newSiteJob("http://a.example/"));
  await sql`
    insert into captures (job_id, url, url_hash, final_url, final_url_hash, depth, status_code, headers, fetched_at, fetch_time_ms,
      payload_bytes, payload_digest, truncated, not_modified, batch_key, batch_index, text_key)
    select ${job_id}, 'u' || n, '', 'u' || n, '', 1, 200, '[]', now(), 1, 1, 'd' || n / 3, false, false, '', n, sha256(n::text::bytea)
    from generate_series(1, 3000) n`;
  const pages = Array.from({ length: 20 }, (_, at) => {
    const finalUrl = `http://a.example/${at}`;
    const extraction = { title: null, text: `What page ${at} says` };
    const capture = {
      error: null,
      payloadDigest: `d${at}`,
      finalUrl,
      redirects: [],
      extraction,
      fetchedAt: "2026-01-01",
    };
    return { capture, index: at, url: { depth: 1 } } as unknown as LockedPage;
  });
  const read = await inTransaction(sql, async (tx) => {
    const job = (await lockJob(tx, job_id)) as NonNullable<Awaited<ReturnType<typeof lockJob>>>;
    const count = async () => {
      const [{ rows = 0 } = {}] = await tx<{ rows: number }[]>`
        select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_xact_user_tables where relname = 'captures'`;
      return rows;
    };
    const before = await count();
    // often enough that the server keeps a plan
    for (let turn = 0; turn < 7; turn++) await checkCapturedPages(tx, job, pages);
    return (await count()) - before;
  });
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(7 * 20 * 10);
});

test("pages that say little, each under a title of its own, are pages", async () => {
  const site: Site = (url) => {
    const at = Number(url.split("/").at(-1));
    const next = at < 120 ? `<a href="/g/${at + 1}">next</a>` : "";
    return {
      html: `<html lang="en"><title>Picture ${at}</title><main><p>Gallery</p><img src="/${at}.jpg"></main>${next}`,
    };
  };
  expect((await crawlTrap("/g/1", site)).codes).toEqual({ crawled: 120 });
});

test("what pages link to again and again counts once against a path's queries", async () => {
  const links = Array.from({ length: 30 }, (_, at) => `/list?${at % 2 === 0 ? "a" : "b"}=${at}`);
  const { codes } = await crawlTrap("/", (url) => ({ html: page(url, links, 10) }));
  expect(codes).toEqual({ crawled: 31 });
});

test("parameters that the config ignores make no further page", async () => {
  const site: Site = (url) => ({ html: page(url, ["/list?sort=up", "/list?sort=down", "/list?q=1&sort=up"], 10) });
  const config = crawlConfigSchema.parse({ ignore_parameters: ["sort"] });
  const { fetched } = await crawlTrap("/", site, { config });
  expect(fetched).toEqual(["/", "/list", "/list?q=1"]);
});

test("a recrawl knows a page again whose URL had a session", async () => {
  const setup = await crawlSetup();
  const site: Site = (_, { prior }) =>
    prior === null
      ? { html: page("A page", [], 10), finalUrl: `${ORIGIN}/a;jsessionid=0123456789ABCDEF` }
      : { notModified: true };
  const job = newSiteJob(`${ORIGIN}/a;jsessionid=FEDCBA9876543210`);
  await createJob(setup.dependencies, job);
  await setup.crawl(site);
  const [document] = await setup.sql<{ url: string }[]>`select url from documents_active`;
  expect(document?.url).toBe(`${ORIGIN}/a`);
  await createJob(setup.dependencies, job);
  const [task] = await setup.tasks();
  expect(task?.urls[0]).toMatchObject({ url: `${ORIGIN}/a`, prior: { etag: '"1"' } });
});
