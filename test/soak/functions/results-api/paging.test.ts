import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { selectFields } from "../../../../shared/crawl/results/fields.ts";
import { type ResultPage, readResultPages } from "../../../../shared/crawl/results/pages.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { newJob, page } from "../../../integration/crawl/crawl-setup.ts";
import { resultsSetup } from "../../../integration/functions/results-api/results-setup.ts";

const HOSTS = 12;
const PAGES = 30;

test("paging while captures of many tasks are ingested at once neither skips nor repeats a page", async () => {
  const setup = await resultsSetup();
  const urls = Array.from({ length: HOSTS * PAGES }, (_, n) => `http://h${n % HOSTS}.example/${n}`);
  const job = await createJob(setup.dependencies, newJob(urls));
  let ingested = false;
  const crawl = async () => {
    const tasks = await setup.tasks();
    await Promise.all(
      tasks.map(async (task) => {
        // single captures, each twice at once: as many transactions as can be, and some of them for nothing
        for (const url of task.urls) {
          const message = await setup.archive(task, () => ({ body: page(url.url) }), [url]);
          await Promise.all([ingestBatch(setup.dependencies, message), ingestBatch(setup.dependencies, message)]);
        }
      }),
    );
    ingested = true;
  };
  const seen: ResultPage[] = [];
  let readWhileRunning = 0;
  const readAll = async () => {
    for (let after = 0; ; ) {
      const wasIngested = ingested;
      let got = 0;
      for await (const each of readResultPages(
        setup.reader,
        job.job_id,
        { after, limit: 7 },
        selectFields({ include: "url" }, "all"),
      )) {
        seen.push(each);
        after = each.cursor;
        got++;
      }
      if (!wasIngested) readWhileRunning += got;
      if (got === 0 && wasIngested) return;
    }
  };
  await Promise.all([crawl(), readAll()]);
  expect(seen.map(({ cursor }) => cursor)).toEqual(urls.map((_, at) => at + 1));
  expect(seen.map((each) => each.page.url).toSorted()).toEqual(urls.toSorted());
  expect(readWhileRunning).toBeGreaterThan(100);
  expect((await readJob(setup.sql, job.job_id))?.counts).toMatchObject({ crawled: urls.length, open: 0 });
});
