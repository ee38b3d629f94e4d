/** Functions of one trust share their containers: what each keeps for itself all the same. */
import { expect, test } from "vitest";
import { InvocationError } from "../../../../local/lambda/invocation.ts";
import { type TestRuntime, testRuntime } from "../../../services/index.ts";
import { readPrometheusText, sampleOf } from "../../../services/prometheus-text.ts";

const get = (test: TestRuntime, path: string) => fetch(`${test.runtime.url}${path}`);

async function warm({ runtime }: TestRuntime, name: string): Promise<number | undefined> {
  const families = readPrometheusText(await (await fetch(`${runtime.url}/metrics`)).text());
  return sampleOf(families, "strandline_function_containers", { function: name, state: "warm" });
}

test("a second function takes the idle container of the first, under its own name", async () => {
  const running = await testRuntime(["echo", "teller"]);
  await get(running, "/echo/a");
  await running.runtime.invoke("teller", { lines: 1 });
  expect([await warm(running, "echo"), await warm(running, "teller")]).toEqual([1, 1]);
  const { functionName, events } = (await (await get(running, "/echo/a")).json()) as Record<string, unknown>;
  expect({ functionName, events }).toEqual({ functionName: "echo", events: 2 });
});

test.for(["exit", "hang"] as const)("what ends a shared container (%s) is one event's fault alone", async (how) => {
  const running = await testRuntime(["echo", "faulty"]);
  await get(running, "/echo/a");
  const fault = running.runtime.invoke("faulty", { how });
  const failed = expect(fault).rejects.toThrow(InvocationError);
  // while it runs the other function has a container of its own
  const statuses = await Promise.all([get(running, "/echo/a"), get(running, "/echo/b")]);
  expect(statuses.map(({ status }) => status)).toEqual([200, 200]);
  await failed;
  expect((await get(running, "/echo/a")).status).toBe(200);
});

test("events that mostly wait share a thread, and each keeps its own answer", async () => {
  const running = await testRuntime(["sharing"]);
  const chunks = [30, 40, 50, 60, 70, 80];
  // larger than what the system buffers: all of them are open until they are read
  const answers = await Promise.all(chunks.map((count) => get(running, `/stream?chunks=${count}`)));
  expect(new Set(answers.map(({ headers }) => headers.get("x-thread"))).size).toBe(1);
  await answers[0]?.body?.cancel();
  const lengths = await Promise.all(answers.slice(1).map(async (each) => (await each.arrayBuffer()).byteLength));
  expect(lengths).toEqual(chunks.slice(1).map((count) => count * 64 * 1024));
});
