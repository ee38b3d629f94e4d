/** What ingest and the lifecycle of jobs tell: each page and each end once, and nothing that was undone. */
import { expect, it } from "vitest";
import { ingestBatch } from "../../../../shared/crawl/ingest/ingest-batch.ts";
import { recordDeadLetter } from "../../../../shared/crawl/recovery/dead-letters.ts";
import { cancelJob } from "../../../../shared/crawl/submit/cancel-job.ts";
import { createJob } from "../../../../shared/crawl/submit/create-job.ts";
import { afterCommit, inTransaction } from "../../../../shared/platform/database/database.ts";
import { measuredIn } from "../../../services/measured.ts";
import { crawlSetup, newJob, newSiteJob, page, siteOf } from "../crawl-setup.ts";

const site = siteOf("http://a.example", { "/": page("Home", ["/b", "/c"]), "/b": page("B"), "/c": page("C") });
const COMPLETED = { kind: "site", status: "completed", stop_reason: "completed" };

it("a batch that arrives three times, twice at once, counts its pages and the end of its job once", async () => {
  const { dependencies, logged, tasks, capture } = await crawlSetup();
  await createJob(dependencies, newSiteJob("http://a.example/", { maxDepth: 0 }));
  const [task] = await tasks();
  const message = await capture(task ?? expect.fail("no task"), site);
  await Promise.all([ingestBatch(dependencies, message), ingestBatch(dependencies, message)]);
  await ingestBatch(dependencies, message);
  expect(measuredIn(logged, "ingest")).toMatchObject({
    batches: 3,
    pages_crawled: 1,
    pages_failed: 0,
    pages_skipped: 0,
    pages_retried: 0,
    reused: 0,
    documents: 1,
  });
  const job = { kind: "site", status: "completed" };
  expect(measuredIn(logged, "jobs", job)).toMatchObject({ ended: 1, duration_seconds: expect.any(Number) });
});

it("pages are told by what became of them, and the job by its kind, status and stop reason", async () => {
  const setup = await crawlSetup();
  const { dependencies, logged } = setup;
  const urls = ["http://a.example/b", "http://a.example/c", "http://a.example/none"];
  await createJob(dependencies, newJob(urls));
  await setup.crawl(site);
  expect(measuredIn(logged, "ingest")).toMatchObject({ pages_crawled: 2, pages_failed: 1 });
  expect(measuredIn(logged, "jobs", { ...COMPLETED, kind: "pages" })).toMatchObject({ ended: 1 });
  const other = await createJob(dependencies, newSiteJob("http://b.example/"));
  await cancelJob(dependencies, other.job_id);
  await setup.crawl(site);
  const cancelled = { kind: "site", status: "cancelled", stop_reason: "manual_stop" };
  expect(measuredIn(logged, "jobs", cancelled)).toMatchObject({ ended: 1 });
});

it("a dead letter is told of once, by its queue", async () => {
  const { dependencies, logged, tasks } = await crawlSetup();
  await createJob(dependencies, newSiteJob("http://a.example/"));
  const [task] = await tasks();
  const about = { queue: "fetch-normal", messageId: crypto.randomUUID(), receiveCount: 3, attributes: {} };
  const letter = { ...about, body: JSON.stringify(task) };
  const redrive = { ...dependencies, redrive: { most: 0, firstS: 1 } };
  await Promise.all([recordDeadLetter(redrive, letter), recordDeadLetter(redrive, letter)]);
  await recordDeadLetter(redrive, letter);
  expect(measuredIn(logged, "dead_letters", { queue: "fetch-normal" })).toEqual({ received_ended: 1 });
  const failed = { kind: "site", status: "failed", stop_reason: "error" };
  expect(measuredIn(logged, "jobs", failed)).toMatchObject({ ended: 1 });
});

it("what waits for a commit happens once after it, and never where the transaction is undone", async () => {
  const { sql } = await crawlSetup();
  const done: string[] = [];
  let tries = 0;
  await inTransaction(sql, async (tx) => {
    afterCommit(tx, () => done.push("committed"));
    tries += 1;
    if (tries === 1) await tx`do $$ begin raise exception 'again' using errcode = '40001'; end $$`;
    expect(done).toEqual([]);
  });
  expect([tries, done]).toEqual([2, ["committed"]]);
  const failing = inTransaction(sql, async (tx) => {
    afterCommit(tx, () => done.push("undone"));
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(done).toEqual(["committed"]);
  await sql.begin(async (tx) => {
    expect(() => afterCommit(tx, () => undefined)).toThrow(/inTransaction/);
  });
});
