import { expect, test } from "vitest";
import type { FunctionSpec } from "../../../../infra/topology/spec.ts";
import { FunctionPool } from "../../../../local/lambda/function-pool.ts";
import type { StreamSink } from "../../../../local/lambda/invocation.ts";

const SPEC: FunctionSpec = {
  name: "search-api",
  about: "",
  timeoutS: 29,
  memoryMb: 256,
  network: "private",
  grants: {},
  localContainers: 1,
};

/** A pool with one slot, whose events end when they are told to. */
function pool() {
  const seen: unknown[] = [];
  const ends: (() => void)[] = [];
  const group = {
    idleWith: () => 0,
    isCalm: () => true,
    invoke: async (_hosted: unknown, event: unknown) => {
      seen.push(event);
      await new Promise<void>((resolve) => ends.push(resolve));
      return event;
    },
  };
  const made = new FunctionPool({ spec: SPEC, containers: 1, handler: "", group, onInvocation: () => {} });
  const end = async (): Promise<void> => {
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()?.();
  };
  return { pool: made, seen, end };
}

const client = () => {
  const leaving = new AbortController();
  const sink: StreamSink = { closed: leaving.signal, head: () => {}, write: async () => {} };
  return { sink, leave: () => leaving.abort() };
};

test("an event whose client has left while it waited is not run", async () => {
  const { pool: tested, seen, end } = pool();
  const first = tested.invoke("first");
  const { sink, leave } = client();
  const second = tested.invoke("second", sink, 60_000);
  const third = tested.invoke("third", client().sink, 60_000);
  leave();
  await expect(second).rejects.toMatchObject({ fault: "busy" });
  await end();
  await end();
  expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  expect(seen).toEqual(["first", "third"]);
});

test("events wait as long as they have patience, and no more of them than are worth it", async () => {
  const { pool: tested, end } = pool();
  const warm = tested.invoke("loads the handler");
  await end();
  await warm;
  const running = tested.invoke("runs");
  await expect(tested.invoke("hurried", undefined, 20)).rejects.toMatchObject({ fault: "busy" });
  const waiting = Array.from({ length: 100 }, (_, index) => tested.invoke(index, undefined, 60_000));
  await expect(tested.invoke("one too many", undefined, 60_000)).rejects.toMatchObject({ fault: "busy" });
  // what comes from a queue has all the time there is
  const patient = tested.invoke("patient");
  for (let ended = 0; ended < 102; ended += 1) await end();
  expect(await Promise.all([running, ...waiting, patient])).toEqual(["runs", ...waiting.keys(), "patient"]);
});

test("the first events wait for the handler to be loaded, however little patience they have", async () => {
  const { pool: tested, end } = pool();
  const first = tested.invoke("first", undefined, 20);
  const second = tested.invoke("second", undefined, 20);
  await new Promise((resolve) => setTimeout(resolve, 60));
  await end();
  await end();
  expect(await Promise.all([first, second])).toEqual(["first", "second"]);
});
