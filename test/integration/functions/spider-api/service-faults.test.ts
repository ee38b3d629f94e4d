/** Whoever waits for a crawl, or reads its stream, while the services behind it fail for a moment. */
import { expect, it } from "vitest";
import { FIELD_PRESETS } from "../../../../shared/crawl/results/fields.ts";
import { type StreamItem, streamResults } from "../../../../shared/crawl/results/stream.ts";
import { waitForCrawl } from "../../../../shared/crawl/results/wait.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import type { ObjectStore } from "../../../../shared/platform/aws/objects.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";
import type { Sql } from "../../../../shared/platform/database/database.ts";
import { crawlSetup, newJob, page, siteOf } from "../../crawl/crawl-setup.ts";

const PATHS = Array.from({ length: 30 }, (_, index) => `/${index}`);
const site = siteOf("http://a.example", Object.fromEntries(PATHS.map((path) => [path, page(path)])));
const seeds = PATHS.map((path) => `http://a.example${path}`);

const slowDown = () => Object.assign(new Error("Slow down"), { name: "SlowDown", $metadata: { httpStatusCode: 503 } });

/** Does what reads jobs, and cuts the connection in the middle of a query. */
async function cutWhile<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  const { going } = await sql.begin(async (tx) => {
    await tx`lock table jobs in access exclusive mode`;
    const going = work();
    going.catch(() => undefined);
    await expect
      .poll(
        async () =>
          await sql`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`,
      )
      .toHaveLength(1);
    return { going };
  });
  return await going;
}

function stream(sql: Sql, setup: Awaited<ReturnType<typeof crawlSetup>>, jobId: string, objects: ObjectStore) {
  return streamResults(
    { sql, objects, log: setup.dependencies.log, maxContentBytes: 1000, clock: systemClock },
    jobId,
    {
      after: 0,
      fields: FIELD_PRESETS.all,
      signal: new AbortController().signal,
      remainingMs: () => 900_000,
    },
  );
}

it("a stream whose reads fail for a moment gives each page once and whole, then its stats", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  await setup.crawl(site);
  let reads = 0;
  const objects: ObjectStore = {
    ...setup.dependencies.objects,
    async get(key, range) {
      reads += 1;
      if (reads <= 3) throw slowDown();
      return await setup.dependencies.objects.get(key, range);
    },
  };
  const items = stream(setup.sql, setup, job_id, objects);
  const all: StreamItem[] = [];
  const first = await cutWhile(setup.sql, async () => await items.next());
  if (!first.done) all.push(first.value);
  for await (const item of items) all.push(item);
  const cursors = all.flatMap((item) => (item.type === "page" ? [item.cursor] : []));
  expect(cursors).toEqual(PATHS.map((_, index) => index + 1));
  expect(all.at(-1)).toMatchObject({ type: "stats", state: { crawled: 30 } });
  expect(reads).toBeGreaterThan(3);
});

it("a fault that does not pass ends a stream", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  await setup.crawl(site);
  const get = async () => {
    throw new Error("broken");
  };
  const items = stream(setup.sql, setup, job_id, { ...setup.dependencies.objects, get });
  await expect(items.next()).rejects.toThrow("broken");
});

it("a crawl that is waited for is waited for although the database hangs up", async () => {
  const setup = await crawlSetup();
  const { job_id } = await createJob(setup.dependencies, newJob(seeds));
  await setup.crawl(site);
  const dependencies = { sql: setup.sql, clock: systemClock, log: setup.dependencies.log };
  const waiting = () => waitForCrawl(dependencies, job_id, new AbortController().signal);
  expect(await cutWhile(setup.sql, waiting)).toMatchObject({ over: true, crawled: 30 });
});
