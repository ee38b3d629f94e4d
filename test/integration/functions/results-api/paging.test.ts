import { expect, test } from "vitest";
import { FIELD_PRESETS, selectFields } from "../../../../shared/crawl/results/fields.ts";
import { readResultPages } from "../../../../shared/crawl/results/pages.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { newJob, page } from "../../crawl/crawl-setup.ts";
import { collect, resultsSetup } from "./results-setup.ts";

test("a page has the fields of the reference, and leaves out what it does not know", async () => {
  const setup = await resultsSetup();
  const urls = ["/page", "/moved", "/gone", "/denied", "/down"].map((path) => `http://a.example${path}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  const html =
    '<html lang="en"><head><title>The tide</title><link rel="canonical" href="/tide"></head><body><p>The tide brings <a href="/b">what</a> the <a href="/c">river</a> carried.</p></body></html>';
  const error = (code: string, message: string) => ({ code, message, retryable: false });
  await setup.serve((url) => {
    if (url.endsWith("/page")) return { body: html, headers: [["Content-Type", "text/html; charset=utf-8"]] };
    if (url.endsWith("/moved")) return { body: html, finalUrl: "http://a.example/page" };
    if (url.endsWith("/gone"))
      return { body: "<p>Gone", status: 404, error: error("HTTP_404", "The server answered 404") };
    if (url.endsWith("/denied")) return { body: "", status: 0, error: error("ROBOTS_DENIED", "robots.txt forbids it") };
    return { body: "", error: error("EMPTY_BODY", "The server sent no body (200)") };
  });
  const pages = (await setup.pages(job.job_id)).map((each) => each.page);
  const [found, moved, gone, denied, down] = urls.map((url) => pages.find((each) => each.url === url));
  expect(found).toEqual({
    url: "http://a.example/page",
    canonical_url: "http://a.example/tide",
    depth: 0,
    status_code: 200,
    title: "The tide",
    content: html,
    markdown: expect.stringContaining("The tide brings [what](http://a.example/b)"),
    links: ["http://a.example/b", "http://a.example/c"],
    mime: "text/html",
    charset: "UTF-8",
    fetch_time_ms: 12,
    robots_obeyed: true,
    disallowed: false,
    truncated: false,
    crawled_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(Object.keys(found ?? {})).toEqual([...FIELD_PRESETS.all].filter((name) => name in (found ?? {})));
  expect(moved).toMatchObject({ url: urls[1], final_url: "http://a.example/page" });
  expect(gone).toMatchObject({
    status_code: 404,
    fetch_error: "HTTP_404: The server answered 404",
    content: "<p>Gone",
    links: [],
  });
  expect(denied).toMatchObject({
    status_code: 0,
    disallowed: true,
    fetch_error: "ROBOTS_DENIED: robots.txt forbids it",
  });
  expect(down).toMatchObject({ parse_error: "EMPTY_BODY: The server sent no body (200)" });
  expect(down).not.toHaveProperty("fetch_error");
  for (const each of [gone, denied, down]) expect(each).not.toHaveProperty("markdown");

  const titles = await setup.pages(job.job_id, selectFields({ include: "title" }, "all"));
  expect(titles.find((each) => each.page.url === urls[0])?.page).toEqual({
    url: urls[0],
    depth: 0,
    status_code: 200,
    title: "The tide",
  });
});

test("fields that are not asked for cost no reading of objects", async () => {
  const setup = await resultsSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  await setup.serve(() => ({ body: page("A page") }));
  const read: string[] = [];
  const objects = {
    ...setup.reader.objects,
    get: (key: string, range?: { offset: number; length: number }) => {
      read.push(key.split("/", 1)[0] ?? "");
      return setup.reader.objects.get(key, range);
    },
  };
  const readWith = async (include: string) => {
    read.length = 0;
    await collect(
      readResultPages(
        { ...setup.reader, objects },
        job.job_id,
        { after: 0, limit: 10 },
        selectFields({ include }, "all"),
      ),
    );
    return [...read];
  };
  expect(await readWith("title,mime,charset,crawled_at,truncated,fetch_error")).toEqual([]);
  expect(await readWith("links")).toEqual(["captures"]);
  expect(await readWith("markdown,links")).toEqual(["captures"]);
  expect(await readWith("content")).toEqual(["warcs"]);
});

test("pages that are large are read a few at a time, and small ones together", async () => {
  const setup = await resultsSetup();
  const urls = Array.from({ length: 9 }, (_, n) => `http://a.example/${n}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  await setup.serve(() => ({ body: page("A page") }));
  let reads = 0;
  const objects = {
    ...setup.reader.objects,
    // the batches are gone: the documents are read
    get: async (key: string) => {
      if (key.startsWith("captures/")) reads += 1;
      return undefined;
    },
  };
  const readAtOnce = async () => {
    const range = { after: 0, limit: 100 };
    const fields = selectFields({ include: "links,markdown" }, "all");
    const before: number[] = [];
    for await (const { page: found } of readResultPages({ ...setup.reader, objects }, job.job_id, range, fields)) {
      expect(found.markdown).toContain("page");
      before.push(reads);
    }
    return [...Map.groupBy(before, (count) => count).values()].map(({ length }) => length);
  };
  expect(await readAtOnce()).toEqual([9]);
  await setup.sql`update documents set markdown = repeat('page ', 300000), links = array[repeat('x', 500000)]`;
  expect(await readAtOnce()).toEqual([4, 4, 1]);
  await setup.sql`update documents set content = repeat('page ', 2000000)`;
  expect(await readAtOnce()).toEqual(urls.map(() => 1));
});
