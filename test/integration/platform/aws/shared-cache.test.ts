import { beforeAll, beforeEach, expect, test } from "vitest";
import { createObjectStore } from "../../../../shared/platform/aws/objects.ts";
import { createSharedCache, type SharedCacheStore } from "../../../../shared/platform/aws/shared-cache.ts";
import { createStateTable } from "../../../../shared/platform/aws/state-table.ts";
import { type Clock, systemClock } from "../../../../shared/platform/clock.ts";
import { uuidv7 } from "../../../../shared/platform/ids.ts";
import { type TestAws, testAwsWithoutSqs } from "../../../services/aws.ts";

let aws: TestAws;
let warnings: unknown[];
let kind: string;
beforeAll(async () => {
  aws = await testAwsWithoutSqs();
  return () => aws.close();
});
beforeEach(() => {
  warnings = [];
  kind = `texts-${uuidv7()}`;
});

/** As one container has it. */
function container({ store = {}, clock = systemClock, waitMs = 20_000 }: Options = {}) {
  const made: string[] = [];
  const all: SharedCacheStore = {
    state: createStateTable(aws.dynamo, aws.stateTable),
    objects: createObjectStore(aws.s3, aws.bucket),
    clock,
    log: { warn: (message) => void warnings.push(message) },
    ...store,
  };
  const cache = createSharedCache<string>(all, {
    kind,
    ttlS: 60,
    waitMs,
    callMs: 5_000,
    encode: (text) => Buffer.from(text),
    decode: (bytes) => Buffer.from(bytes).toString(),
  });
  const ask = async (name: string, make = async () => `value of ${name}`, keepAs: string | null = name) => {
    const { value, until } = await cache.through(name, async () => {
      made.push(name);
      return { value: await make(), keepAs };
    });
    return { value, found: until !== null };
  };
  return { ask, made };
}

interface Options {
  store?: Partial<SharedCacheStore>;
  clock?: Clock;
  waitMs?: number;
}

const away = async (): Promise<never> => {
  throw new Error("away");
};
const never = () => new Promise<never>(() => {});

test("what one container has made the others find", async () => {
  const [one, other] = [container(), container()];
  expect(await one.ask("a")).toEqual({ value: "value of a", found: false });
  expect(await other.ask("a")).toEqual({ value: "value of a", found: true });
  expect(await other.ask("b")).toEqual({ value: "value of b", found: false });
  expect([one.made, other.made, warnings]).toEqual([["a"], ["b"], []]);
});

test("a value that is too large for the table lies in the bucket", async () => {
  const text = Array.from({ length: 20_000 }, () => uuidv7()).join(" ");
  await container().ask("large", async () => text);
  expect((await container().ask("large")).value === text).toBe(true);
  expect(warnings).toEqual([]);
});

test("of containers that ask at the same time one makes the value, also the second time", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  const containers = Array.from({ length: 8 }, () => container({ clock }));
  for (const round of [1, 2]) {
    const asked = containers.map(({ ask }) => ask("a", async () => `${round}`));
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(containers.map(() => `${round}`));
    expect(containers.flatMap(({ made }) => made)).toHaveLength(round);
    now += 61_000;
  }
});

test("a container that dies while it makes a value, or takes long, holds nobody up for more than the wait", async () => {
  const stuck = Promise.withResolvers<string>();
  const first = container();
  const early = first.ask("a", () => stuck.promise);
  await expect.poll(() => first.made).toEqual(["a"]);
  const second = container({ waitMs: 100 });
  expect(await second.ask("a", async () => "mine")).toEqual({ value: "mine", found: false });
  stuck.resolve("late");
  expect(await early).toEqual({ value: "late", found: false });
});

test("a fault is thrown, kept by nobody, and leaves the name to the next", async () => {
  await expect(container().ask("a", away)).rejects.toThrow("away");
  const { ask } = container({ waitMs: 20_000 });
  expect(await ask("a")).toEqual({ value: "value of a", found: false });
});

test("what is not to be kept is not, and what belongs under another name lies there", async () => {
  expect(await container().ask("a", async () => "partial", null)).toEqual({ value: "partial", found: false });
  expect(await container().ask("a", async () => "newer", "b")).toEqual({ value: "newer", found: false });
  expect(await container().ask("b")).toEqual({ value: "newer", found: true });
  expect(await container().ask("a")).toEqual({ value: "value of a", found: false });
});

test.each([
  ["down", { read: away, takeOnce: away, put: away, remove: away }],
  ["down for writes", { takeOnce: away, put: away, remove: away }],
])("a table that is %s costs one try and a warning", async (_name, broken) => {
  const state = { ...createStateTable(aws.dynamo, aws.stateTable), ...broken };
  const { ask, made } = container({ store: { state } });
  for (let time = 0; time < 5; time++) expect((await ask("a")).value).toBe("value of a");
  expect([made.length, warnings.length]).toEqual([5, 1]);
});

test("a table that never answers, or a bucket, costs its time bound once", async () => {
  const sleeps: number[] = [];
  const clock: Clock = {
    now: () => 1_000_000,
    async sleep(ms, signal) {
      sleeps.push(ms);
      // other calls get their time, and only what never ends is late
      await systemClock.sleep(1_000, signal);
    },
  };
  const silent = { read: never, takeOnce: never, put: never, remove: never };
  const { ask } = container({ store: { state: silent }, clock });
  for (let time = 0; time < 3; time++) expect((await ask("a")).value).toBe("value of a");
  expect([sleeps, warnings.length]).toEqual([[5_000], 1]);
  const text = Array.from({ length: 20_000 }, () => uuidv7()).join(" ");
  const unkept = container({ store: { objects: { put: never, get: never } }, clock });
  expect((await unkept.ask("b", async () => text)).found).toBe(false);
  expect(warnings).toHaveLength(2);
});

test("bytes that no codec reads are made anew", async () => {
  await container().ask("a");
  const state = createStateTable(aws.dynamo, aws.stateTable);
  const garbled: SharedCacheStore["state"] = {
    ...state,
    async read(pk, consistent) {
      const item = await state.read(pk, consistent);
      return item && { ...item, bytes: Buffer.from("no gzip") };
    },
  };
  expect(await container({ store: { state: garbled } }).ask("a")).toEqual({ value: "value of a", found: false });
  expect(await container().ask("a")).toEqual({ value: "value of a", found: true });
});
