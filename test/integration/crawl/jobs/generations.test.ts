import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { settleJob } from "../../../../shared/crawl/jobs/lifecycle.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { endOldGenerations, removeUnseenDocuments } from "../../../../shared/knowledge/documents/maintenance.ts";
import { connectDatabase, inTransaction } from "../../../../shared/platform/database/database.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { type Answer, crawlSetup, newJob, newSiteJob, page, type Site, siteOf } from "../crawl-setup.ts";

type Setup = Awaited<ReturnType<typeof crawlSetup>>;

const fan = (count: number) => Array.from({ length: count }, (_, at) => `/${at}`);
const edition = (name: string, count: number): Site =>
  siteOf(
    "http://a.example",
    Object.fromEntries(["/", ...fan(count)].map((path) => [path, page(`${name} ${path}`, fan(count))])),
  );
const down: Site = () => ({ error: { code: "CONNECT_FAILED", message: "refused", retryable: false } });

async function active(setup: Setup): Promise<string[]> {
  const rows = await setup.sql<{ title: string }[]>`select title from documents_active order by url`;
  return rows.map((row) => row.title);
}

async function crawlSite(setup: Setup, site: Site) {
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  await setup.crawl(site);
  return await readJob(setup.sql, job.job_id);
}

test("readers see all of the old edition or all of the new one, never a mix", async () => {
  const setup = await crawlSetup();
  await crawlSite(setup, edition("old", 30));
  const reader = connectDatabase({ url: setup.databaseUrl, poolSize: 2 });
  const seen = new Set<string>();
  let done = false;
  const read = async () => {
    while (!done) {
      const rows = await reader<{ edition: string; pages: number }[]>`
        select split_part(title, ' ', 1) as edition, count(*)::int as pages from documents_active group by 1 order by 1`;
      seen.add(JSON.stringify(rows));
    }
  };
  const readers = [read(), read()];
  await expect.poll(() => seen.size).toBe(1);
  await crawlSite(setup, edition("new", 20));
  done = true;
  await Promise.all(readers);
  await reader.end();
  const [oldOnly, newOnly] = [[{ edition: "old", pages: 31 }], [{ edition: "new", pages: 21 }]];
  expect([...seen].every((each) => [JSON.stringify(oldOnly), JSON.stringify(newOnly)].includes(each))).toBe(true);
  expect(seen).toContain(JSON.stringify(oldOnly));
  expect(await active(setup)).toHaveLength(21);
});

test("a site that is down keeps what is known of it", async () => {
  const setup = await crawlSetup();
  await crawlSite(setup, edition("old", 3));
  expect(await crawlSite(setup, down)).toMatchObject({
    status: "failed",
    stop_reason: "error",
    error: expect.stringContaining("CONNECT_FAILED"),
    counts: { crawled: 0, failed: 1 },
  });
  expect(await active(setup)).toHaveLength(4);
});

test("given pages replace their own URLs alone: gone ones go, failed ones stay", async () => {
  const setup = await crawlSetup();
  await crawlSite(setup, edition("old", 4));
  const answers: Record<string, string | Answer> = {
    "/0": page("new /0"),
    "/1": { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } },
    "/2": { error: { code: "CONNECT_FAILED", message: "refused", retryable: false } },
  };
  await createJob(setup.dependencies, newJob(fan(3).map((path) => `http://a.example${path}`)));
  await setup.crawl(siteOf("http://a.example", answers));
  expect(await active(setup)).toEqual(["old /", "new /0", "old /2", "old /3"]);
});

test("a page that asks not to be indexed any more leaves the index and stays in the archive", async () => {
  const setup = await crawlSetup();
  await crawlSite(setup, edition("old", 1));
  const hidden = page("hidden").replace("<head>", '<head><meta name="robots" content="noindex">');
  const job = await createJob(setup.dependencies, newJob(["http://a.example/0"]));
  await setup.crawl(siteOf("http://a.example", { "/0": hidden }));
  expect(await active(setup)).toEqual(["old /"]);
  const { urls } = await listJobUrls(setup.sql, job.job_id, { limit: 1 });
  expect(urls).toMatchObject([{ state: "crawled", title: "hidden", document_id: null, no_document: "noindex" }]);
});

test("a crawled page without a document says why, another has one", async () => {
  const setup = await crawlSetup();
  const answers = {
    "/fine": page("fine"),
    "/empty": "<html><head><title>Empty</title></head><body></body></html>",
    "/french": page("fr").replace("<html", '<html lang="fr"'),
    "/gone": { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } },
  };
  const urls = Object.keys(answers).map((path) => `http://why.example${path}`);
  const reasons = async (fields: Parameters<typeof newJob>[1]) => {
    const job = await createJob(setup.dependencies, newJob(urls, fields));
    await setup.crawl(siteOf("http://why.example", answers));
    const { urls: shown } = await listJobUrls(setup.sql, job.job_id, { limit: 10 });
    return Object.fromEntries(
      shown.map(({ url, document_id, no_document }) => [new URL(url).pathname, no_document ?? document_id !== null]),
    );
  };
  expect(await reasons({})).toEqual({ "/fine": true, "/empty": "no_text", "/french": "language", "/gone": false });
  expect(await reasons({ handling: { index: false } })).toMatchObject({ "/fine": "not_asked", "/gone": false });
});

test("collections hold editions of their own", async () => {
  const setup = await crawlSetup();
  const collectionId = uuidv7();
  await setup.sql`insert into collections (id, name) values (${collectionId}, 'other')`;
  await crawlSite(setup, edition("one", 1));
  await createJob(setup.dependencies, newSiteJob("http://a.example/", { collectionId }));
  await setup.crawl(edition("two", 1));
  expect((await active(setup)).toSorted()).toEqual(["one /", "one /0", "two /", "two /0"]);
});

test("two URLs that redirect to one page make one document", async () => {
  const setup = await crawlSetup();
  const answers: Record<string, string | Answer> = {
    "/a": { html: page("Target"), finalUrl: "http://a.example/target?utm_source=x" },
    "/b": { html: page("Target"), finalUrl: "http://a.example/target" },
    "/target": page("Target"),
  };
  const job = await createJob(
    setup.dependencies,
    newJob(Object.keys(answers).map((path) => `http://a.example${path}`)),
  );
  const [task] = (await setup.tasks()) as [FetchTask];
  const site = siteOf("http://a.example", answers);
  const messages = await Promise.all(task.urls.map((url) => setup.capture(task, site, [url])));
  await Promise.all(messages.map((message) => ingestBatch(setup.dependencies, message)));
  const documents = await setup.sql`select url from documents`;
  expect(documents).toMatchObject([{ url: "http://a.example/target" }]);
  const { urls } = await listJobUrls(setup.sql, job.job_id, { limit: 5 });
  expect(new Set(urls.map((each) => each.document_id)).size).toBe(1);
  expect(urls.map((each) => each.state)).toEqual(Array(3).fill("crawled"));
});

test("a generation is activated once its last chunk has its vector, and only then", async () => {
  const setup = await crawlSetup({ embedding: { maxTokens: 128 } });
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  await setup.crawl(edition("first", 2));
  const waiting = await readJob(setup.sql, job.job_id);
  expect(waiting).toMatchObject({ status: "embedding", counts: { open: 0, documents: 3 } });
  expect(waiting?.counts.unembedded_chunks).toBe(waiting?.counts.chunks);
  expect(await active(setup)).toEqual([]);
  const embedAll = (left: number) =>
    inTransaction(setup.sql, async (tx) => {
      await tx`update jobs set unembedded_chunks = ${left} where id = ${job.job_id}`;
      return await settleJob(tx, job.job_id, setup.dependencies.log);
    });
  expect(await embedAll(1)).toBe("unchanged");
  expect(await active(setup)).toEqual([]);
  expect((await Promise.all([embedAll(0), embedAll(0), embedAll(0)])).toSorted()).toEqual([
    "completed",
    "unchanged",
    "unchanged",
  ]);
  expect(await active(setup)).toHaveLength(3);
});

test("jobs that replace the same pages at once leave one edition", async () => {
  const setup = await crawlSetup();
  const jobs = await Promise.all(
    [1, 2, 3].map(() => createJob(setup.dependencies, newSiteJob("http://a.example/", { maxDepth: 1 }))),
  );
  await setup.crawl(edition("same", 12));
  const views = await Promise.all(jobs.map((job) => readJob(setup.sql, job.job_id)));
  expect(views.map((view) => view?.status)).toEqual(Array(3).fill("completed"));
  const rows = await setup.sql`select generation_id, count(*)::int as pages from documents_active group by 1`;
  expect(rows).toMatchObject([{ pages: 13 }]);
});

test("maintenance removes what was replaced, vectors first, and leaves what is seen or still being written", async () => {
  const setup = await crawlSetup();
  await crawlSite(setup, edition("old", 3));
  await crawlSite(setup, edition("new", 2));
  await createJob(setup.dependencies, newSiteJob("http://b.example/"));
  const [task] = (await setup.tasks()) as [FetchTask];
  await ingestBatch(
    setup.dependencies,
    await setup.capture(task, siteOf("http://b.example", { "/": page("unfinished", ["/more"]) })),
  );
  await endOldGenerations(setup.sql, 0);
  const withVectors: string[] = [];
  const broken = { deleteDocuments: () => Promise.reject(new Error("store is down")) };
  await expect(removeUnseenDocuments(setup.sql, broken, () => true)).rejects.toThrow("store is down");
  expect((await setup.sql`select from documents`).length).toBe(4 + 3 + 1);
  const vectors = {
    deleteDocuments: (ids: readonly string[]) => {
      withVectors.push(...ids);
      return Promise.resolve();
    },
  };
  expect(await removeUnseenDocuments(setup.sql, vectors, () => true)).toBe(4);
  expect(withVectors).toHaveLength(4);
  const left = await setup.sql`select title from documents order by title`;
  expect(left.map((row) => row["title"])).toEqual(["new /", "new /0", "new /1", "unfinished"]);
  expect(await setup.sql`select from chunks where document_id not in (select id from documents)`).toHaveLength(0);
});
