import { expect, test } from "vitest";
import { InvocationError } from "../../../local/lambda/invocation.ts";
import { readPrometheusText, sampleOf } from "../../services/prometheus-text.ts";
import { type TestRuntime, testRuntime } from "../../services/runtime.ts";

async function metricsOf({ runtime }: TestRuntime) {
  const answer = await fetch(`${runtime.url}/metrics`);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const families = readPrometheusText(await answer.text());
  return (name: string, labels: Record<string, string> = {}) => sampleOf(families, `strandline_${name}`, labels);
}

test("no line is lost, of whatever many containers tell at once, and what is read meanwhile only grows", async () => {
  const running = await testRuntime(["teller"]);
  const [events, lines] = [60, 50];
  const working = Promise.all(Array.from({ length: events }, () => running.runtime.invoke("teller", { lines })));
  const read: number[] = [];
  await expect
    .poll(async () => {
      read.push((await metricsOf(running))("fetch_payload_bytes_total") ?? -1);
      return read.at(-1);
    })
    .toBe(events * lines * 1000);
  await working;
  expect(read).toEqual(read.toSorted((a, b) => a - b));
  const value = await metricsOf(running);
  expect(value("fetch_payload_bytes_total")).toBe(events * lines * 1000);
  expect(value("fetch_pages_total", { outcome: "fetched" })).toBe(events * lines * 2);
  expect(value("fetch_pages_total", { outcome: "dns" })).toBe(events * lines);
  expect(value("fetch_pages_total", { outcome: "robots" })).toBe(0);
  expect(value("fetch_page_seconds_bucket", { le: "0.025" })).toBe(events * lines);
  expect(value("fetch_page_seconds_count")).toBe(events * lines * 2);
  expect(value("function_duration_seconds_count", { function: "teller" })).toBe(events);
  expect(running.shown).toEqual([]);
});

test("queues, containers, calls, dollars and faults are told as they stand", async () => {
  const running = await testRuntime(["holding", "patient", "echo"]);
  const { runtime, clients, seen } = running;
  await clients.send("work", { id: "one", act: "hang" });
  await clients.send("work", { id: "later" }, 900);
  await expect.poll(async () => (await seen("taken")).length).toBe(1);
  await expect(runtime.invoke("faulty", { how: "throw" })).rejects.toThrow(InvocationError);
  await fetch(`${runtime.url}/echo/a`);
  const value = await metricsOf(running);
  const queued = (state: string) => value("queue_messages", { queue: "work", state });
  expect([queued("ready"), queued("delayed"), queued("in_flight")]).toEqual([0, 1, 1]);
  const containers = (name: string, state: string) => value("function_containers", { function: name, state });
  expect([containers("consumer", "running"), containers("consumer", "warm")]).toEqual([1, 0]);
  expect([containers("echo", "running"), containers("echo", "warm")]).toEqual([0, 1]);
  expect(value("function_errors_total", { function: "faulty", fault: "error" })).toBe(1);
  expect(value("function_duration_seconds_count", { function: "faulty" })).toBe(1);
  expect(value("aws_calls_total", { service: "sqs", operation: "SendMessage" })).toBe(2);
  // asking for metrics is no call
  expect(value("aws_calls_total", { service: "apigateway", operation: "Request" })).toBe(1);
  const { usd } = runtime.usage();
  expect(value("aws_cost_dollars_total", { service: "sqs" })).toBe(usd["sqs"]);
  expect(value("resident_memory_bytes")).toBeGreaterThan(10_000_000);
  // the main thread, and the container that still runs
  if (process.platform === "linux") expect(value("threads")).toBeGreaterThanOrEqual(2);
  expect(value("start_time_seconds")).toBeLessThanOrEqual(Date.now() / 1000);
  expect((await fetch(`${runtime.url}/metrics`, { method: "POST" })).status).toBe(404);
});
