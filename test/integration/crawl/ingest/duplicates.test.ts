import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import { type Answer, crawlSetup, newJob, newSiteJob, page, type Site, traceOf } from "../crawl-setup.ts";
import { holding, untilSomeoneWaits } from "../held-transactions.ts";

/** 40 pages that link to each other, with redirects, failures, pages that fail at first, and 404s. */
function crookedSite(): Site {
  const tries = new Map<string, number>();
  return (url) => {
    const number = Number(new URL(url).pathname.slice(1) || 0);
    const links = [2 * number + 1, 2 * number + 2, number - 1, 0].filter((each) => each < 40).map((each) => `/${each}`);
    const tried = (tries.get(url) ?? 0) + 1;
    tries.set(url, tried);
    if (number % 13 === 5) return { status: 404, error: { code: "HTTP_404", message: "gone", retryable: false } };
    if (number % 11 === 7 && tried === 1) {
      return { status: 503, error: { code: "HTTP_503", message: "later", retryable: true } };
    }
    const answer: Answer = { html: page(`Page ${number}`, links) };
    return number % 9 === 4 ? { ...answer, finalUrl: new URL("/3", url).href } : answer;
  };
}

async function crawlOnce(deliveries: number) {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/0"));
  const fetched = await setup.crawl(crookedSite(), deliveries);
  return { fetched, trace: await traceOf(setup.sql, job.job_id) };
}

test("a crawl whose every message comes three times at once leaves the same tables as one whose messages come once", async () => {
  const [once, thrice] = [await crawlOnce(1), await crawlOnce(3)];
  expect(once.trace.job).toMatchObject({ status: "completed", counts: { open: 0 } });
  expect(once.trace.documents.length).toBeGreaterThan(20);
  expect(thrice.trace).toEqual(once.trace);
  expect(thrice.fetched.toSorted()).toEqual(once.fetched.toSorted());
});

test("a late copy of a failed try does not count as the answer to the next try", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/"));
  const [first] = await setup.tasks();
  const fault = { code: "HTTP_500", message: "fault", retryable: true };
  const failed = await setup.capture(first as NonNullable<typeof first>, () => ({ status: 500, error: fault }));
  await ingestBatch(setup.dependencies, failed);
  const [second] = await setup.tasks(20);
  expect(second).toMatchObject({ urls: [{ url: "http://a.example/", attempt: 1 }] });
  await ingestBatch(setup.dependencies, failed);
  expect((await traceOf(setup.sql, job.job_id)).frontier).toMatchObject([{ state: "claimed", attempt: 1 }]);
  await ingestBatch(
    setup.dependencies,
    await setup.capture(second as NonNullable<typeof second>, () => ({ html: page("Home") })),
  );
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    job: { status: "completed", counts: { crawled: 1, documents: 1 } },
    captures: [{ error_code: "HTTP_500" }, { error_code: null }],
  });
});

test("a late copy that holds the row of a try to be made does not leave it to nobody", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const seeds = ["http://a.example/1", "http://a.example/2"];
  const job = await createJob(dependencies, newJob(seeds, { handling: { concurrency: 1 } }));
  const [task] = (await setup.tasks()) as [FetchTask];
  const failed = await setup.capture(
    task,
    () => ({ status: 500, error: { code: "HTTP_500", message: "fault", retryable: true } }),
    task.urls.slice(0, 1),
  );
  const [first, copy] = [holding(sql), holding(sql)];
  const ingested = ingestBatch({ ...dependencies, sql: first.sql }, failed);
  await first.worked;
  const copied = ingestBatch({ ...dependencies, sql: copy.sql }, failed);
  await untilSomeoneWaits(sql);
  first.commit();
  await ingested;
  await copy.worked;
  // while it lasts, the rest of the task arrives, and looks for what may be claimed
  await ingestBatch(dependencies, await setup.capture(task, () => ({ html: page("Two") }), task.urls.slice(1)));
  copy.commit();
  await copied;
  await setup.crawl((url) => ({ html: page(url) }));
  expect(await readJob(sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 2, open: 0 } });
});
