import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { CIRCUIT_OPEN_MS, CIRCUIT_THRESHOLD, circuitOf, createHostStates } from "../../../shared/crawl/host-state.ts";
import { type TestAws, testAws } from "../../services/index.ts";

let aws: TestAws;
let now = Date.UTC(2026, 0, 1);
beforeAll(async () => {
  aws = await testAws();
});
const states = () => createHostStates(aws.dynamo, aws.stateTable, () => now);
const soon = () => ({ notBefore: now, maxWaitMs: 5000, intervalMs: 100 });

describe("slots", () => {
  it("of many workers at once never overlap", async () => {
    const firsts = await Promise.all(
      Array.from({ length: 8 }, () => states().reserve("busy", 300, { ...soon(), maxWaitMs: 60_000 })),
    );
    const starts = firsts.map(({ firstAt }) => firstAt).sort((a, b) => a - b);
    expect(starts).toEqual(Array.from({ length: 8 }, (_, index) => now + index * 300));
  });

  it("too far away are not taken", async () => {
    await states().reserve("far", 6000, soon());
    expect(await states().reserve("far", 100, soon())).toMatchObject({ firstAt: now + 6000, taken: false });
    expect((await states().read("far")).next_at).toBe(now + 6000);
    now += 2000;
    expect(await states().reserve("far", 100, soon())).toMatchObject({ firstAt: now + 4000, taken: true });
  });

  it("of a worker whose knowledge is old are the next free ones all the same", async () => {
    const old = await states().read("stale");
    await states().reserve("stale", 700, soon(), old);
    await states().hold("stale", now + 900);
    expect((await states().reserve("stale", 100, soon(), old)).firstAt).toBe(now + 900);
  });

  it("begin after the time that the host asked for, which is never shortened", async () => {
    await states().hold("held", now + 3000);
    await states().hold("held", now + 1000);
    expect((await states().reserve("held", 100, soon())).firstAt).toBe(now + 3000);
  });

  it("that nobody is left to use are given back, but for the pause that the last request may ask for", async () => {
    await states().reserve("left", 60_000, { ...soon(), intervalMs: 100 });
    await states().freeSlots("left");
    expect((await states().read("left")).next_at).toBe(now + 1100);
    await states().freeSlots("left");
    expect((await states().read("left")).next_at).toBe(now + 1100);
    await states().reserve("slow", 60_000, { ...soon(), intervalMs: 12_000 });
    await states().hold("slow", now + 30_000);
    await states().freeSlots("slow");
    expect(await states().read("slow")).toMatchObject({ next_at: now + 12_000, hold_until: now + 30_000 });
  });

  it("leave a domain's settings alone, and keep them from expiring", async () => {
    const item = { pk: "host#set", rate_limit_rps: 0.5, blocked: false, expires_at: 1 };
    await aws.dynamo.send(new PutCommand({ TableName: aws.stateTable, Item: item }));
    await states().reserve("set", 100, soon());
    expect(await states().read("set")).toMatchObject({ rate_limit_rps: 0.5, next_at: now + 100 });
  });
});

describe("the circuit", () => {
  const fail = async (host: string, times: number) => {
    for (let time = 0; time < times; time += 1) await states().recordFailure(host);
    return await states().read(host);
  };

  it("opens at the threshold of failures in a row, and a success before that starts the count again", async () => {
    expect(circuitOf(await fail("flaky", CIRCUIT_THRESHOLD - 1), now)).toBe("closed");
    await states().recordSuccess("flaky");
    expect(circuitOf(await fail("flaky", CIRCUIT_THRESHOLD - 1), now)).toBe("closed");
    expect(circuitOf(await fail("flaky", 1), now)).toBe("open");
    expect(circuitOf(await states().read("flaky"), now + CIRCUIT_OPEN_MS - 1)).toBe("open");
  });

  it("half-open lets exactly one probe through", async () => {
    await fail("dead", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("dead");
    expect(circuitOf(seen, now)).toBe("half-open");
    const probes = await Promise.all(Array.from({ length: 6 }, () => states().takeProbe("dead", seen)));
    expect(probes.filter(Boolean)).toHaveLength(1);
  });

  it("opens again where the probe fails, and closes where it succeeds", async () => {
    expect(circuitOf(await fail("dead", 1), now)).toBe("open");
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("dead");
    expect(await states().takeProbe("dead", seen)).toBe(true);
    await states().recordSuccess("dead");
    expect(circuitOf(await states().read("dead"), now)).toBe("closed");
  });

  it("gives the probe to another where its holder died", async () => {
    await fail("lost", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("lost");
    expect(await states().takeProbe("lost", seen)).toBe(true);
    now += 61_000;
    expect(await states().takeProbe("lost", seen)).toBe(true);
  });
});
