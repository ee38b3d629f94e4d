/** What a monitored list names no more is forgotten, and nothing that it may name still. */
import { expect, test } from "vitest";
import type { Listed } from "../../../../shared/crawl/discovery/list-task.ts";
import { writeListed } from "../../../../shared/crawl/discovery/result.ts";
import { forgetEntries } from "../../../../shared/crawl/sources/forget-entries.ts";
import { takeList } from "../../../../shared/crawl/sources/take-list.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { crawlSetup, newJob, page } from "../crawl-setup.ts";

const LIST = "https://a.example/sitemap.xml";

async function source(type = "sitemap") {
  const setup = await crawlSetup();
  const { sql, dependencies } = setup;
  const id = uuidv7();
  await sql`insert into crawl_sources (id, name, type, url) values (${id}, 'list', ${type}, ${LIST})`;
  /** One run that found these documents, of which the named entries were read. */
  const run = async (documents: Record<string, string>, names: readonly string[]): Promise<string[]> => {
    const jobId = uuidv7();
    await createJob(dependencies, newJob([LIST], { id: jobId, crawlSourceId: id, awaitsList: true, maxPages: 100 }));
    await sql`insert into discovery_jobs (id, domain, sources, max_urls) values (${jobId}, 'a.example', '{list}', 0)`;
    const listed: Listed = {
      entries: names.map((name) => ({ url: `https://a.example/${name}`, version: "1", dated: null })),
      documents: Object.entries(documents).map(([url, digest]) => ({
        ...{ url: `https://a.example/${url}`, digest },
        ...{ etag: null, last_modified: null, named: null },
      })),
    };
    const counts = { entries: names.length, documentsRead: 1, documentsUnchanged: 0 };
    const resultKey = await writeListed(dependencies.objects, `discoveries/${jobId}/list`, listed);
    await takeList(dependencies, { event: "listed", jobId, error: null, ...counts, resultKey, notes: [] });
    const fetched = await setup.crawl((url) => ({ html: page(url, [], 10) }));
    return fetched.map((url) => url.replace("https://a.example/", "")).sort();
  };
  const forget = async () => {
    await forgetEntries(sql, () => true);
    const rows = await sql`select url from crawl_source_entries order by url`;
    return rows.map(({ url }) => String(url).replace("https://a.example/", ""));
  };
  const pass = (days: number) => sql`
    with entries as (update crawl_source_entries set last_listed_at = last_listed_at - ${days} * interval '1 day'),
      lists as (update crawl_source_lists set read_at = read_at - ${days} * interval '1 day',
        gone_at = gone_at - ${days} * interval '1 day')
    select 1`;
  return { sql, id, run, forget, pass };
}

test("an entry that its list has named no more for three months is forgotten, and is new when it is named again", async () => {
  const { run, forget, pass } = await source();
  expect(await run({ "s.xml": "1" }, ["a", "b"])).toEqual(["a", "b"]);
  await pass(2);
  expect(await run({ "s.xml": "2" }, ["b", "c"])).toEqual(["c"]);
  await pass(85);
  expect(await run({ "s.xml": "3" }, ["b", "c"])).toEqual([]);
  expect(await forget()).toEqual(["a", "b", "c"]);
  await pass(10);
  expect(await forget()).toEqual(["b", "c"]);
  expect(await run({ "s.xml": "4" }, ["a", "b"])).toEqual(["a"]);
});

test("what a document names that has not changed for years stays", async () => {
  const { run, forget, pass } = await source();
  await run({ "old.xml": "1", "new.xml": "1" }, ["old", "new"]);
  for (let turn = 0; turn < 3; turn += 1) {
    await pass(200);
    // the old one is as it was, and its entries are not told of
    expect(await run({ "old.xml": "1", "new.xml": `${turn + 2}` }, ["new"])).toEqual([]);
    expect(await forget()).toEqual(["new", "old"]);
  }
  // it cannot be read for a while
  await run({ "new.xml": "5" }, ["new"]);
  await pass(60);
  expect(await forget()).toEqual(["new", "old"]);
  expect(await run({ "old.xml": "1", "new.xml": "6" }, ["new", "old"])).toEqual([]);
  // it has gone for good
  await run({ "new.xml": "7" }, ["new"]);
  await pass(91);
  await run({ "new.xml": "8" }, ["new"]);
  await forget();
  expect(await forget()).toEqual(["new"]);
});

test("what waits to be crawled stays, and so does all of a source that does not run", async () => {
  const { sql, run, forget, pass } = await source();
  await run({ "s.xml": "1" }, ["a", "b"]);
  await pass(400);
  expect(await forget()).toEqual(["a", "b"]);
  await run({ "s.xml": "2" }, ["c"]);
  await sql`update crawl_source_entries set taken = null where url like '%/a'`;
  expect(await forget()).toEqual(["a", "c"]);
});

test("a source that is no list any more keeps no entries", async () => {
  const { sql, run, forget, pass } = await source();
  await run({ "s.xml": "1" }, ["a"]);
  await sql`update crawl_sources set type = 'site'`;
  await sql`update crawl_source_lists set gone_at = now()`;
  expect(await forget()).toEqual(["a"]);
  await pass(91);
  await forget();
  expect(await forget()).toEqual([]);
});
