/**
 * Events on their way to connections: in order, the last one once and last, whatever the queue does with its messages.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { listenerName } from "../../../shared/notify/listener.ts";
import type { PushMessage } from "../../../shared/notify/push-event.ts";
import { type ProgressHarness, progressHarness } from "./harness.ts";

async function watched(harness: ProgressHarness, listeners = 1) {
  const jobId = await harness.job();
  const ids = await Promise.all(Array.from({ length: listeners }, () => harness.listen(jobId)));
  // so old that a connection which is not there is gone
  harness.pass(60_000);
  await harness.round({ jobId });
  const [first] = await harness.pushes();
  if (first === undefined) throw new Error("the update loop sent nothing");
  const message = (step: number, kind: PushMessage["kind"] = "progress"): PushMessage => ({
    ...first,
    seq: first.seq + step,
    kind,
    eventId: kind === "last" ? "last" : `step-${step}`,
    body: JSON.stringify({ type: kind, step }),
  });
  return { jobId, ids, message };
}

test("what is delivered twice or late is told once and in order", async () => {
  const harness = await progressHarness();
  const { ids, message } = await watched(harness);
  for (const step of [0, 0, 2, 1, 2, 3, 0]) await harness.push(message(step));
  expect(harness.heard(ids[0] as string).map(({ step }) => step)).toEqual([0, 2, 3]);
});

test("nothing follows the last event, which comes once, however deliveries are mixed", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness, 8);
  harness.delayWith(() => delay(Math.random() * 20));
  // each twice, in any order, four at a time; the job has ended at step 12
  const steps = Array.from({ length: 40 }, (_, index) => index % 20)
    .map((step) => ({ step, at: step + Math.random() * 8 }))
    .toSorted((a, b) => a.at - b.at);
  const deliver = async () => {
    for (let next = steps.shift(); next !== undefined; next = steps.shift()) {
      await harness.push(message(next.step, next.step < 12 ? "progress" : "last"));
      harness.pass(50);
    }
  };
  await Promise.all(Array.from({ length: 4 }, deliver));
  // as the update loop does as long as somebody is left
  await harness.push(message(20, "last"));
  for (const id of ids) {
    const heard = harness.heard(id);
    expect(heard.filter(({ type }) => type === "last")).toHaveLength(1);
    expect(heard.at(-1)?.type).toBe("last");
    const told = heard.map(({ step }) => step);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(harness.closed.has(id)).toBe(true);
  }
  expect(await harness.listeners(jobId)).toEqual([]);
});

test("a delivery that died gives way after its lease, and what it began is not begun again", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness);
  await harness.subscriptions.beginPush(jobId, message(1).seq, 20_000);
  await harness.push(message(2));
  expect(harness.heard(ids[0] as string)).toEqual([]);
  harness.pass(20_001);
  await harness.push(message(1));
  expect(harness.heard(ids[0] as string)).toEqual([]);
  await harness.push(message(2));
  expect(harness.heard(ids[0] as string).map(({ step }) => step)).toEqual([2]);
});

test("where nobody knows whether the last event has left, it is not sent again: the connection is closed", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness);
  const [id] = ids as [string];
  harness.failWith(() => new Error("the connection to API Gateway broke"));
  await harness.push(message(1, "last"));
  expect([harness.closed.has(id), await harness.listeners(jobId)]).toEqual([false, [id]]);
  harness.failWith(() => undefined);
  await harness.push(message(2, "last"));
  expect([harness.closed.has(id), harness.heard(id), await harness.listeners(jobId)]).toEqual([true, [], []]);
});

test("a client that does not read is told later what it missed, and of the end for as long as that makes sense", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness, 2);
  const [slow, quick] = ids as [string, string];
  let reads = false;
  harness.failWith((id) => (id === slow && !reads ? "refused" : undefined));
  await harness.push(message(1));
  expect([harness.heard(slow).length, harness.heard(quick).length]).toEqual([0, 1]);
  expect([...((await harness.subscriptions.read(jobId))?.notified ?? [])].map(harness.idOf)).toEqual([quick]);
  await harness.push(message(2, "last"));
  expect([harness.closed.has(slow), harness.closed.has(quick)]).toEqual([false, true]);
  reads = true;
  await harness.push(message(3, "last"));
  expect(harness.heard(slow).map(({ type }) => type)).toEqual(["last"]);
});

test("a client that never reads is cut in the end", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness);
  const [id] = ids as [string];
  harness.failWith(() => "refused");
  for (let step = 1; step < 15; step += 1) await harness.push(message(step, "last"));
  expect([harness.closed.has(id), await harness.listeners(jobId)]).toEqual([false, [id]]);
  await harness.push(message(15, "last"));
  expect([harness.closed.has(id), await harness.listeners(jobId)]).toEqual([true, []]);
});

test("a connection that has left is forgotten, one that is not open yet is tried again", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness);
  const opening = await harness.listen(jobId);
  const name = (await harness.subscriptions.read(jobId))?.listeners.find(
    ({ connectionId }) => connectionId === opening,
  );
  harness.failWith(() => "gone");
  const { to } = message(1);
  await harness.push({ ...message(1), to: [...to, `${opening}@${name?.keyId}@${name?.expiresAt}`] });
  expect(await harness.listeners(jobId)).toEqual([opening]);
  expect(ids).not.toContain(opening);
  harness.failWith(() => undefined);
  await harness.push({ ...message(2), to: [`${opening}@${name?.keyId}@${name?.expiresAt}`] });
  expect(harness.heard(opening).map(({ step }) => step)).toEqual([2]);
});

test("a listener that had left before it was written down as one is not written to for hours", async () => {
  const harness = await progressHarness();
  const { jobId, ids, message } = await watched(harness);
  // the connection was forgotten while its name was on the way into the subscription
  const left = {
    connectionId: "left",
    keyId: crypto.randomUUID(),
    expiresAt: Math.ceil(harness.clock.now() / 1000) + 3600,
  };
  await harness.subscriptions.join(jobId, left);
  harness.closed.add(left.connectionId);
  await harness.push({ ...message(1), to: [...message(1).to, listenerName(left)] });
  expect(await harness.listeners(jobId)).toEqual(ids);
});
