import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import {
  circuitOf,
  createHostStates,
  DEFAULT_CIRCUIT,
  type HostSettings,
} from "../../../../shared/crawl/politeness/host-state.ts";
import { type TestAws, testAws } from "../../../services/index.ts";
import { loseAnswers } from "../../../services/lost-answers.ts";

const CIRCUIT_THRESHOLD = DEFAULT_CIRCUIT.threshold;
const CIRCUIT_OPEN_MS = DEFAULT_CIRCUIT.timeoutS * 1000;
const PROBE_MS = 60_000;

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

const NO_SETTINGS: HostSettings = {
  rate_limit_rps: undefined,
  blocked: false,
  circuit_threshold: undefined,
  circuit_timeout_s: undefined,
};

describe("a domain's settings", () => {
  it("that arrive late do not replace later ones", async () => {
    await states().applySettings("late", { ...NO_SETTINGS, blocked: true }, 7);
    await states().applySettings("late", { ...NO_SETTINGS, rate_limit_rps: 3 }, 6);
    expect(await states().read("late")).toMatchObject({ blocked: true, settings_revision: 7 });
    await states().applySettings("late", { ...NO_SETTINGS, rate_limit_rps: 3 }, 8);
    const state = await states().read("late");
    expect(state).toMatchObject({ blocked: false, rate_limit_rps: 3, circuit_threshold: CIRCUIT_THRESHOLD });
  });

  it("never expire, even where a worker reserves with what it knew before them", async () => {
    await states().reserve("kept", 100, soon());
    const old = await states().read("kept");
    await states().applySettings("kept", { ...NO_SETTINGS, blocked: true }, 1);
    const { state } = await states().reserve("kept", 100, soon(), old);
    expect(state.blocked).toBe(true);
    const { Item } = await aws.dynamo.send(new GetCommand({ TableName: aws.stateTable, Key: { pk: "host#kept" } }));
    expect(Item).not.toHaveProperty("expires_at");
  });
});

describe("the circuit", () => {
  let url = 0;
  /** Of so many URLs. */
  const fail = async (host: string, times: number) => {
    for (let time = 0; time < times; time += 1) await states().recordFailure(host, `http://${host}/${url++}`);
    return await states().read(host);
  };

  it("counts a URL that fails again and again once", async () => {
    for (let time = 0; time < 2 * CIRCUIT_THRESHOLD; time += 1) {
      await states().recordFailure("one-bad-page", "http://one-bad-page/broken");
    }
    expect(await fail("one-bad-page", CIRCUIT_THRESHOLD - 2)).toMatchObject({ failures: CIRCUIT_THRESHOLD - 1 });
    expect(circuitOf(await states().read("one-bad-page"), now)).toBe("closed");
    await states().recordSuccess("one-bad-page");
    expect(await fail("one-bad-page", 1)).toMatchObject({ failures: 1 });
  });

  it("opens at the threshold of failures in a row, and a success before that starts the count again", async () => {
    expect(circuitOf(await fail("flaky", CIRCUIT_THRESHOLD - 1), now)).toBe("closed");
    await states().recordSuccess("flaky");
    expect(circuitOf(await fail("flaky", CIRCUIT_THRESHOLD - 1), now)).toBe("closed");
    expect(circuitOf(await fail("flaky", 1), now)).toBe("open");
    expect(circuitOf(await states().read("flaky"), now + CIRCUIT_OPEN_MS - 1)).toBe("open");
  });

  it("stays closed for more failures the more was answered shortly before, as long as the host is reached", async () => {
    const answering = async (host: string, answers: number) => {
      for (let left = answers; left > 0; left -= 10) await states().recordAnswers(host, Math.min(10, left));
    };
    for (const [host, answers, most] of [
      ["one", 1, 5],
      ["few", 6, 8],
      ["some", 12, 11],
      ["many", 1000, 20],
    ] as const) {
      await answering(host, answers);
      expect([host, circuitOf(await fail(host, most - 1), now)]).toEqual([host, "closed"]);
      expect([host, circuitOf(await fail(host, 1), now)]).toEqual([host, "open"]);
    }
    await answering("gone", 100);
    for (const page of [1, 2, 3, 4, 5]) await states().recordFailure("gone", `http://gone/${page}`, false);
    expect(circuitOf(await states().read("gone"), now)).toBe("open");
    await answering("long-ago", 100);
    now += 600_000;
    expect(circuitOf(await fail("long-ago", CIRCUIT_THRESHOLD), now)).toBe("open");
  });

  it("half-open lets exactly one probe through", async () => {
    await fail("dead", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("dead");
    expect(circuitOf(seen, now)).toBe("half-open");
    const probes = await Promise.all(Array.from({ length: 6 }, () => states().takeProbe("dead", seen, PROBE_MS)));
    expect(probes.filter(Boolean)).toHaveLength(1);
  });

  it("opens again where the probe fails, and closes where it succeeds", async () => {
    expect(circuitOf(await fail("dead", 1), now)).toBe("open");
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("dead");
    expect(await states().takeProbe("dead", seen, PROBE_MS)).toBe(now + PROBE_MS);
    await states().recordSuccess("dead");
    expect(circuitOf(await states().read("dead"), now)).toBe("closed");
  });

  it("gives the probe to another where it was given back, and not where it was another's", async () => {
    await fail("given", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("given");
    const until = (await states().takeProbe("given", seen, PROBE_MS)) ?? 0;
    await states().dropProbe("given", until - 1);
    expect(await states().takeProbe("given", seen, PROBE_MS)).toBeUndefined();
    await states().dropProbe("given", until);
    expect(await states().takeProbe("given", seen, PROBE_MS)).toBe(until);
  });

  it("remembers since when the host has not answered, and how often it opened", async () => {
    const since = now;
    await fail("down", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    expect(await fail("down", 1)).toMatchObject({ opened_at: now, down_since: since, openings: 2 });
    expect(await states().recordSuccess("down")).toMatchObject({ opened_at: 0, down_since: 0, openings: 0 });
  });

  it("is the domain's own where it has settings", async () => {
    await states().applySettings("own", { ...NO_SETTINGS, circuit_threshold: 2, circuit_timeout_s: 10 }, 1);
    expect(circuitOf(await fail("own", 2), now)).toBe("open");
    expect(circuitOf(await states().read("own"), now + 10_000)).toBe("half-open");
  });

  it("gives the probe to another where its holder died", async () => {
    await fail("lost", CIRCUIT_THRESHOLD);
    now += CIRCUIT_OPEN_MS;
    const seen = await states().read("lost");
    expect(await states().takeProbe("lost", seen, PROBE_MS)).toBe(now + PROBE_MS);
    now += 61_000;
    expect(await states().takeProbe("lost", seen, PROBE_MS)).toBe(now + PROBE_MS);
  });
});

it("what is written once is its writer's, though the answer to that got lost", async () => {
  const own = await testAws();
  const opened: string[] = [];
  const states = createHostStates(
    own.dynamo,
    own.stateTable,
    () => now,
    { threshold: 1, timeoutS: 300 },
    (host) => opened.push(host),
  );
  const lost = loseAnswers(own.dynamo);
  expect(await states.reserve("unanswered", 700, soon())).toMatchObject({ firstAt: now, taken: true });
  expect((await states.read("unanswered")).next_at).toBe(now + 700);
  const failed = await states.recordFailure("unanswered", "http://unanswered/");
  expect(opened).toEqual(["unanswered"]);
  now += 301_000;
  expect(await states.takeProbe("unanswered", failed, PROBE_MS)).toBe(now + PROBE_MS);
  expect(await states.takeProbe("unanswered", failed, PROBE_MS)).toBeUndefined();
  // a reservation, a failure, an opening, a probe
  expect(lost()).toBeGreaterThanOrEqual(4);
});
