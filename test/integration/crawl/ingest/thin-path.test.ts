import { expect, test } from "vitest";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { crawlSetup, newJob, newSiteJob, page, siteOf } from "../crawl-setup.ts";

test("one URL becomes one active document with sections and chunks", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const job = await createJob(dependencies, newJob(["http://a.example/"]));
  expect(job).toMatchObject({ status: "pending", counts: { discovered: 1, open: 1 } });
  await setup.crawl(siteOf("http://a.example", { "/": page("Home") }));
  expect(await readJob(sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "completed",
    counts: { discovered: 1, open: 0, crawled: 1, failed: 0, skipped: 0, documents: 1, unembedded_chunks: 0 },
  });
  const [document] = await sql`select * from documents_active`;
  expect(document).toMatchObject({ url: "http://a.example/", title: "Home", domain: "a.example", language: "en" });
  const chunks = await sql`select * from chunks order by chunk_index`;
  expect(chunks.length).toBeGreaterThan(0);
  for (const chunk of chunks) {
    expect(document?.["content"].slice(chunk["start_char"], chunk["end_char"])).toBe(chunk["content"]);
  }
  const sections = await sql`select jsonb_path_query(sections, '$[*].heading') as heading from documents`;
  expect(sections.map((each) => each["heading"])).toEqual(expect.arrayContaining(["Home", "More of Home"]));
  const { urls, next } = await listJobUrls(sql, job.job_id, { limit: 10 });
  expect(next).toBeNull();
  expect(urls).toMatchObject([
    { url: "http://a.example/", state: "crawled", status_code: 200, attempts: 1, document_id: document?.["id"] },
  ]);
});

test("a site is crawled level by level, each URL once, within its host", async () => {
  const setup = await crawlSetup();
  const site = siteOf("http://a.example", {
    "/": page("Home", ["/b", "/c", "http://other.example/", "/b#part", "/b?utm_source=x", "/gone"]),
    "/b": page("B", ["/", "/d"]),
    "/c": page("C", ["/d", "/b"]),
    "/d": page("D", ["/e"]),
    "/e": page("E", ["/"]),
  });
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const fetched = await setup.crawl(site);
  expect(fetched).toEqual(["/", "/b", "/c", "/gone", "/d", "/e"].map((path) => `http://a.example${path}`));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "completed",
    counts: { discovered: 6, open: 0, crawled: 5, failed: 1, skipped: 0, documents: 5 },
  });
});
