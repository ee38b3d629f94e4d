import { expect, test } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { listJobUrls, readJob } from "../../../../shared/crawl/jobs/views.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { FetchTask } from "../../../../shared/crawl/tasks/fetch-task.ts";
import type { Transaction } from "../../../../shared/platform/database/database.ts";
import { crawlSetup, newJob, newSiteJob, page, type Site, traceOf } from "../crawl-setup.ts";

const fault: ReturnType<Site> = {
  status: 500,
  error: { code: "HTTP_500", message: "The server answered 500", retryable: true },
};

test("a URL that keeps failing is tried four times, at growing distances, without waiting for the sweep", async () => {
  // the real queue service, in real time
  const setup = await crawlSetup({ sqs: true });
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"]));
  const times: number[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    const [task] = (await setup.tasks(20)) as [FetchTask];
    times.push(Date.now());
    expect(task.urls).toMatchObject([{ attempt }]);
    await ingestBatch(setup.dependencies, await setup.capture(task, () => fault));
  }
  const waits = times.slice(1).map((time, at) => time - (times[at] as number));
  expect(waits[0]).toBeGreaterThanOrEqual(900);
  expect(waits[1]).toBeGreaterThanOrEqual(1_900);
  expect(waits[2]).toBeGreaterThanOrEqual(3_900);
  expect(await traceOf(setup.sql, job.job_id)).toMatchObject({
    job: { status: "failed", counts: { crawled: 0, failed: 1, open: 0 } },
    frontier: [{ state: "failed", error_code: "HTTP_500" }],
    captures: Array(4).fill({ error_code: "HTTP_500" }),
  });
  const { urls } = await listJobUrls(setup.sql, job.job_id, { limit: 1 });
  expect(urls).toMatchObject([{ attempts: 4, status_code: 500, error_message: "The server answered 500" }]);
});

test("what may be fetched now does not wait for what is tried again later", async () => {
  const setup = await crawlSetup();
  const urls = Array.from({ length: 120 }, (_, at) => `http://a.example/${at}`);
  await createJob(setup.dependencies, newJob(urls));
  const [first] = (await setup.tasks()) as [FetchTask];
  const busy = { code: "HTTP_503", message: "The server answered 503", retryable: true, retryAfterMs: 600_000 };
  const later = { status: 503, error: busy };
  await ingestBatch(
    setup.dependencies,
    await setup.capture(first, (url) => (url.endsWith("/0") ? later : { html: page(url) })),
  );
  const [next] = (await setup.tasks()) as [FetchTask];
  expect(next.urls).toHaveLength(20);
  expect(next.urls.every((each) => each.attempt === 0)).toBe(true);
});

test("a permanent fault is not tried again", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/", "http://b.example/"]));
  const gone = { status: 410, error: { code: "HTTP_410", message: "gone", retryable: false } };
  await setup.crawl((url) => (url.includes("a.example") ? gone : { html: page("B") }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({
    status: "completed",
    stop_reason: "completed",
    counts: { crawled: 1, failed: 1 },
  });
});

test("a try that would come after the deadline of the job is not waited for: its task comes at the deadline", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newJob(["http://a.example/"], { timeoutS: 3 }));
  const [task] = (await setup.tasks()) as [FetchTask];
  const busy = { code: "HTTP_503", message: "The server answered 503", retryable: true, retryAfterMs: 600_000 };
  await ingestBatch(setup.dependencies, await setup.capture(task, () => ({ status: 503, error: busy })));
  const [last] = (await setup.tasks(20)) as [FetchTask];
  expect(setup.now()).toBeGreaterThanOrEqual(last.deadline ?? Number.POSITIVE_INFINITY);
  const late = { code: "TIMEOUT", message: "The time of the job was up", retryable: false };
  await ingestBatch(setup.dependencies, await setup.capture(last, () => ({ error: late })));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "completed", stop_reason: "timeout" });
});

test("a site whose time was up before its first page fails, and says that it was the time", async () => {
  const setup = await crawlSetup();
  const job = await createJob(setup.dependencies, newSiteJob("http://a.example/", { timeoutS: 60 }));
  const late = { code: "TIMEOUT", message: "The time of the job was up", retryable: false };
  await setup.crawl(() => ({ error: late }));
  expect(await readJob(setup.sql, job.job_id)).toMatchObject({ status: "failed", stop_reason: "timeout" });
});

test("a try that becomes due while a claim looks for it is not overlooked", async () => {
  const setup = await crawlSetup();
  const { dependencies, sql } = setup;
  const job = await createJob(dependencies, newJob(["http://a.example/"]));
  const [task] = (await setup.tasks()) as [FetchTask];
  const due = async (tx: Transaction): Promise<void> => {
    for (let isDue = false; !isDue; ) {
      const [row] = await tx<{ due: boolean }[]>`select not_before < clock_timestamp() as due from frontier`;
      isDue = row?.due === true;
    }
  };
  // after the look for what is due already, and before that for what will be
  const slowly = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      apply: (target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) => {
        const query = () => Reflect.apply(target, self, [strings, ...values]);
        return strings.join("").includes("order by f.not_before") ? due(tx).then(query) : query();
      },
    });
  const begin = (work: (tx: Transaction) => Promise<unknown>) => sql.begin((tx) => work(slowly(tx)));
  const slow = new Proxy(sql, { get: (target, name) => (name === "begin" ? begin : Reflect.get(target, name)) });
  await ingestBatch({ ...dependencies, sql: slow }, await setup.capture(task, () => fault));
  await setup.crawl((url) => ({ html: page(url) }));
  expect(await readJob(sql, job.job_id)).toMatchObject({ status: "completed", counts: { crawled: 1, open: 0 } });
});
