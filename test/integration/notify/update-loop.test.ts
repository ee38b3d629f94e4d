/** The update loop of a job: one, as long as somebody listens, and told of no more than what has changed. */
import { expect, test } from "vitest";
import { takeRound, updateMessageSchema } from "../../../shared/notify/update-loop.ts";
import type { Sql } from "../../../shared/platform/database/database.ts";
import { progressHarness } from "./harness.ts";

const NO_DATABASE = (() => {
  throw new Error("the database was asked");
}) as unknown as Sql;

test("whoever comes is told how the job stands, and then whenever that has changed", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job(10);
  const first = await harness.listen(jobId);
  let next = await harness.step({ jobId });
  next = await harness.step(next);
  await harness.crawled(jobId, 4);
  next = await harness.step(next);
  const second = await harness.listen(jobId);
  next = await harness.step(next);
  next = await harness.step(next);
  const crawled = (id: string) => harness.heard(id).map(({ type, data }) => [type, data.counts.crawled]);
  expect(crawled(first)).toEqual([
    ["progress", 0],
    ["progress", 4],
  ]);
  expect(crawled(second)).toEqual([["progress", 4]]);
  await harness.end(jobId);
  next = await harness.step(next);
  for (const id of [first, second]) expect(harness.heard(id).at(-1)).toMatchObject({ type: "completed" });
  expect([harness.closed.has(first), harness.closed.has(second)]).toEqual([true, true]);
  expect(await harness.step(next)).toBeUndefined();
  expect(await harness.subscriptions.read(jobId)).toBeUndefined();
  expect(await harness.subscriptions.jobs()).toEqual([]);
});

test("there is one watch of a job, however many come at once and however often its messages are delivered", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  await Promise.all(Array.from({ length: 10 }, () => harness.listen(jobId)));
  await Promise.all(Array.from({ length: 10 }, () => harness.round({ jobId })));
  let turns = await harness.turns(20);
  expect(turns).toHaveLength(1);
  for (let round = 0; round < 3; round += 1) {
    const [message] = turns;
    await Promise.all([message, message, message, { jobId }].map((each) => harness.round(each)));
    turns = await harness.turns(20);
    expect(turns).toHaveLength(1);
  }
  expect((await harness.pushes()).every(({ to }) => to.length === 10)).toBe(true);
});

test("a message that comes after its turn does nothing", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  await harness.listen(jobId);
  const old = await harness.step({ jobId });
  await harness.step(old);
  await harness.round(old);
  expect([await harness.pushes(), await harness.turns()]).toEqual([[], []]);
});

test("a watch whose message was lost goes on with the sweep, and one that goes on is left alone", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const listener = await harness.listen(jobId);
  const lost = await harness.step({ jobId });
  expect(lost).toBeDefined();
  await harness.crawled(jobId, 1);
  await harness.sweep();
  expect(await harness.turns()).toEqual([]);
  harness.pass(60_000);
  await harness.sweep();
  const [wake] = await harness.turns();
  expect(wake).toEqual({ jobId });
  await harness.step(wake);
  expect(harness.heard(listener).map(({ data }) => data.counts.crawled)).toEqual([0, 1]);
});

test("without listeners the update loop ends, and the database is not asked", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const listener = await harness.listen(jobId);
  const next = await harness.step({ jobId });
  await harness.connections.forget(listener);
  await harness.round(next, NO_DATABASE);
  expect(await harness.subscriptions.read(jobId)).toBeUndefined();
  await harness.round({ jobId }, NO_DATABASE);
  expect([await harness.pushes(), await harness.turns(), await harness.subscriptions.jobs()]).toEqual([[], [], []]);
});

test("connections that were not seen to leave end with the time that they may take", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  await harness.listen(jobId);
  const next = await harness.step({ jobId });
  harness.pass(3 * 3600 * 1000);
  await harness.round(next, NO_DATABASE);
  expect(await harness.subscriptions.read(jobId)).toBeUndefined();
});

test("where nothing changes, a ping goes out once a minute", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const listener = await harness.listen(jobId);
  let next = await harness.step({ jobId });
  for (let minute = 0; minute < 2; minute += 1) {
    harness.pass(61_000);
    next = await harness.step(next);
    next = await harness.step(next);
  }
  expect(harness.heard(listener).map(({ type }) => type)).toEqual(["progress", "ping", "ping"]);
});

test("a job that is deleted ends as failed for those who listen", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const listener = await harness.listen(jobId);
  const next = await harness.step({ jobId });
  await harness.sql`delete from jobs where id = ${jobId}`;
  await harness.step(next);
  expect(harness.heard(listener).at(-1)).toMatchObject({
    type: "failed",
    data: { job_id: jobId, error: "The job was deleted", counts: null },
  });
});

test("a job that waits for its vectors has not ended", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const listener = await harness.listen(jobId);
  const next = await harness.step({ jobId });
  await harness.sql`update jobs set status = 'embedding', unembedded_chunks = 3 where id = ${jobId}`;
  await harness.step(next);
  expect(harness.heard(listener).map(({ type, data }) => [type, data.status])).toEqual([
    ["progress", "running"],
    ["progress", "embedding"],
  ]);
});

test("a turn whose messages could not be sent is taken by the next delivery of its message", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job(10);
  const id = await harness.listen(jobId);
  const next = await harness.step({ jobId });
  await harness.crawled(jobId, 4);
  for (const deaf of ["push", "progress"]) {
    const queues = {
      send: (...message: Parameters<typeof harness.queues.send>) =>
        message[0] === deaf ? Promise.reject(new Error("no queue today")) : harness.queues.send(...message),
    };
    const { sql, subscriptions, clock } = harness;
    await expect(takeRound({ sql, queues, subscriptions, clock }, updateMessageSchema.parse(next))).rejects.toThrow(
      "no queue",
    );
  }
  expect(await harness.step(next)).toBeDefined();
  expect(harness.heard(id).map(({ data }) => data.counts.crawled)).toEqual([0, 4]);
});

test("whoever listens with a key that was revoked is told so and let go in the next round, and the others go on", async () => {
  const harness = await progressHarness();
  const jobId = await harness.job();
  const keyId = await harness.apiKey();
  const [revoked, other] = [await harness.listen(jobId, keyId), await harness.listen(jobId)];
  await harness.sql`update api_keys set is_active = false where id = ${keyId}`;
  await harness.round({ jobId });
  for (const push of await harness.pushes()) await harness.push(push);
  expect(harness.heard(revoked)).toMatchObject([{ type: "error", data: { code: "AUTH_REQUIRED" } }]);
  expect([...harness.closed]).toEqual([revoked]);
  const [next] = await harness.turns();
  await harness.round(next);
  for (const push of await harness.pushes()) await harness.push(push);
  expect(harness.heard(other)).toMatchObject([{ type: "progress" }]);
});
