import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { createTaskLeases, LEASE_MS, type TaskLease } from "../../../../shared/crawl/fetch/task-lease.ts";
import { urlHash } from "../../../../shared/crawl/urls/normalize-url.ts";
import { type TestAws, testAws } from "../../../services/index.ts";
import { loseAnswers } from "../../../services/lost-answers.ts";

let aws: TestAws;
let now = Date.UTC(2026, 0, 1);
beforeAll(async () => {
  aws = await testAws();
});

const take = (task: string, owner: string = randomUUID()) =>
  createTaskLeases(aws.dynamo, aws.stateTable, () => now).take(task, owner);

async function taken(task: string): Promise<TaskLease> {
  const result = await take(task);
  if (result.outcome !== "taken") throw new Error(`The lease was not taken: ${result.outcome}`);
  return result.lease;
}

describe("a task's lease", () => {
  it("is one worker's at a time", async () => {
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => take("contested")));
    expect(outcomes.filter(({ outcome }) => outcome === "taken")).toHaveLength(1);
    expect(outcomes.find(({ outcome }) => outcome === "busy")).toEqual({
      outcome: "busy",
      remainingMs: LEASE_MS,
      deferred: false,
      deferrals: 0,
    });
  });

  it("is held by whoever took it, though the answer to that got lost", async () => {
    const own = await testAws();
    const lost = loseAnswers(own.dynamo);
    const leases = createTaskLeases(own.dynamo, own.stateTable, () => now);
    const first = await leases.take("unanswered", randomUUID());
    expect(first).toMatchObject({ outcome: "taken", lease: { take: 1, until: now + LEASE_MS } });
    expect(lost()).toBe(1);
    expect(await leases.take("unanswered", randomUUID())).toMatchObject({ outcome: "busy", deferred: false });
  });

  it("is given up by its holder, though the answer to that got lost", async () => {
    const own = await testAws();
    const leases = createTaskLeases(own.dynamo, own.stateTable, () => now);
    const held = await leases.take("unanswered deferral", randomUUID());
    if (held.outcome !== "taken") throw new Error("the lease is free");
    const lost = loseAnswers(own.dynamo);
    expect(await held.lease.defer(60_000)).toBe(1);
    expect(lost()).toBe(1);
    expect(await leases.take("unanswered deferral", randomUUID())).toMatchObject({ outcome: "busy", deferred: true });
  });

  it("that was given up for later is taken before its time only by who has a reason to", async () => {
    const held = await take("deferred");
    if (held.outcome !== "taken") throw new Error("the lease is free");
    await held.lease.defer(60_000);
    expect(await take("deferred")).toMatchObject({ outcome: "busy", deferred: true });
    const early = () => createTaskLeases(aws.dynamo, aws.stateTable, () => now).take("deferred", randomUUID(), "early");
    const outcomes = await Promise.all([early(), early(), early()]);
    expect(outcomes.filter(({ outcome }) => outcome === "taken")).toHaveLength(1);
  });

  it("lasts longer with every renewal, and falls to another once it ends", async () => {
    const first = await taken("renewed");
    now += LEASE_MS - 1;
    expect(await first.renew()).toBe(true);
    now += LEASE_MS - 1;
    expect((await take("renewed")).outcome).toBe("busy");
    now += 1;
    const second = await taken("renewed");
    expect([first.take, second.take]).toEqual([1, 2]);
    expect(await first.renew()).toBe(false);
    expect(await first.record([urlHash("c")])).toBe(false);
    expect(await first.complete()).toBe(false);
    expect(await first.defer(1000)).toBeUndefined();
    expect(await second.renew()).toBe(true);
  });

  it("lasts for its holder no longer than for all others, however late it hears that it has it", async () => {
    let late = now;
    const leases = createTaskLeases(aws.dynamo, aws.stateTable, () => late);
    const { send } = aws.dynamo;
    aws.dynamo.send = (async (...command: Parameters<typeof send>) => {
      const answer = await Reflect.apply(send, aws.dynamo, command);
      late += 10_000;
      return answer;
    }) as typeof send;
    const held = await leases.take("heard late", randomUUID());
    aws.dynamo.send = send;
    if (held.outcome !== "taken") throw new Error(held.outcome);
    expect(held.lease.until).toBe(now + LEASE_MS);
  });

  it("hands on what is done", async () => {
    const first = await taken("resumed");
    await first.record([urlHash("a"), urlHash("b")]);
    await first.record([urlHash("c")]);
    now += LEASE_MS;
    const second = await taken("resumed");
    expect(["a", "b", "c", "d"].map((url) => second.isDone(urlHash(url)))).toEqual([true, true, true, false]);
    expect(second.done).toBe(3);
  });

  it("is never taken again once the task is completed", async () => {
    await (await taken("completed")).complete();
    now += LEASE_MS;
    expect((await take("completed")).outcome).toBe("completed");
  });

  it("deferred is free about when the delayed message comes, and not before", async () => {
    await (await taken("deferred")).defer(10_000);
    now += 5000;
    expect((await take("deferred")).outcome).toBe("busy");
    now += 4500;
    expect((await take("deferred")).outcome).toBe("taken");
  });

  it("freed is anybody's at once, what is done stays done, and a deferral or an end stays", async () => {
    const leases = createTaskLeases(aws.dynamo, aws.stateTable, () => now);
    const first = await taken("abandoned");
    await first.record([urlHash("a")]);
    await leases.free("abandoned");
    expect(await first.renew()).toBe(false);
    expect((await taken("abandoned")).isDone(urlHash("a"))).toBe(true);
    await (await taken("put off")).defer(10_000);
    await leases.free("put off");
    expect((await take("put off")).outcome).toBe("busy");
    await (await taken("ended")).complete();
    await leases.free("ended");
    expect((await take("ended")).outcome).toBe("completed");
    await leases.free("never taken");
    expect((await take("never taken")).outcome).toBe("taken");
  });
});
