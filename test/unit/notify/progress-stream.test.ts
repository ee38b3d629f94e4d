import { expect, test } from "vitest";
import type { ProgressEvent } from "../../../shared/notify/job-progress.ts";
import { type ProgressStream, progressEvents } from "../../../shared/notify/progress-stream.ts";
import { RetryableError } from "../../../shared/platform/errors.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";

const data = {
  job_id: "j",
  status: "running",
  stop_reason: null,
  error: null,
  cancel_requested: false,
  counts: null,
  waits: [],
  started_at: null,
  completed_at: null,
};
const progress = (id: string): ProgressEvent => ({ type: "progress", id, data });
const ended: ProgressEvent = { type: "completed", id: "end", data: { ...data, status: "completed" } };

/** Each reading of the job is the next of these; the last one stays. */
async function streamed(readings: (ProgressEvent | Error | undefined)[], options: Partial<ProgressStream> = {}) {
  let now = 0;
  let at = 0;
  const chunks: { at: number; text: string }[] = [];
  const stream = progressEvents({
    jobId: "j",
    first: readings[0] as ProgressEvent,
    lastEventId: undefined,
    read: async () => {
      at += 1;
      const next = readings[Math.min(at, readings.length - 1)];
      if (next instanceof Error) throw next;
      return next;
    },
    clock: {
      now: () => now,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        now += ms;
      },
    },
    signal: new AbortController().signal,
    isTimeUp: () => now >= 60_000,
    log: createLogger({}, "error", () => {}),
    ...options,
  });
  for await (const text of stream) chunks.push({ at: now, text });
  const events = chunks.filter(({ text }) => text.startsWith("event:"));
  return {
    chunks,
    events: events.map(({ text }) => /^event: (\w+)\nid: (\S+)\ndata: (.*)\n\n$/.exec(text)?.slice(1, 3).join(" ")),
    pings: chunks.filter(({ text }) => text === ": ping\n\n").map((each) => each.at),
    now: () => now,
  };
}

test("says first when to come again, then what changes, and last how the job ended", async () => {
  const { chunks, events } = await streamed([progress("a"), progress("a"), progress("b"), progress("b"), ended]);
  expect(chunks[0]?.text).toBe("retry: 2000\n\n");
  expect(events).toEqual(["progress a", "progress b", "completed end"]);
  expect(chunks.at(-1)).toMatchObject({ at: 2000, text: expect.stringMatching(/^event: completed\n/) });
});

test("does not repeat what the client had last in the stream before", async () => {
  const { events } = await streamed([progress("a"), progress("b"), ended], { lastEventId: "a" });
  expect(events).toEqual(["progress b", "completed end"]);
});

test("a ping goes out after 15 s without an event, and the stream ends before its time is over", async () => {
  const { pings, events, now } = await streamed([progress("a")]);
  expect(pings).toEqual([15_000, 30_000, 45_000, 60_000]);
  expect([events, now()]).toEqual([["progress a"], 60_000]);
});

test("waits for a database that does not answer, and pings meanwhile", async () => {
  const away = new RetryableError("the database does not answer", { code: "SERVICE_UNAVAILABLE" });
  const { events, pings } = await streamed([progress("a"), ...Array(40).fill(away), progress("b"), ended]);
  expect(events).toEqual(["progress a", "progress b", "completed end"]);
  expect(pings).toEqual([15_000]);
});

test("a fault that does not pass cuts the stream", async () => {
  await expect(streamed([progress("a"), new TypeError("a fault of ours")])).rejects.toThrow("a fault of ours");
});

test("a job that is deleted meanwhile ends as failed", async () => {
  const { events } = await streamed([progress("a"), undefined]);
  expect(events).toEqual(["progress a", "failed failed@j"]);
});

test("ends when the client leaves", async () => {
  const left = new AbortController();
  let readings = 0;
  const { events } = await streamed([progress("a")], {
    signal: left.signal,
    read: async () => {
      readings += 1;
      if (readings === 3) left.abort();
      return progress(String(readings));
    },
  });
  expect(events).toEqual(["progress a", "progress 1", "progress 2"]);
});
