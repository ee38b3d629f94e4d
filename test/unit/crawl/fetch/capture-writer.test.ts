import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type CaptureWriterOptions, createCaptureWriter } from "../../../../shared/crawl/fetch/capture-writer.ts";
import { capturedWithout } from "../../../../shared/crawl/fetch/fetch-page.ts";
import { createHeldCaptures } from "../../../../shared/crawl/fetch/held-captures.ts";
import { fault } from "../../../../shared/crawl/http/faults.ts";
import { systemClock } from "../../../../shared/platform/clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A writer whose services answer at once. */
function writerOf(isListened: () => boolean, held = createHeldCaptures(Number.POSITIVE_INFINITY)) {
  const sent: unknown[] = [];
  const options = {
    task: { jobId: "01890000-0000-7000-8000-000000000001", taskId: "01890000-0000-7000-8000-000000000002" },
    lease: { take: 1, record: async () => true },
    held,
    objects: { put: async () => undefined },
    queues: {
      send: async (_queue: string, message: unknown) => {
        sent.push(message);
      },
    },
    warcinfo: {},
    clock: systemClock,
    deadline: Number.POSITIVE_INFINITY,
    isListened,
    onDelivered: () => undefined,
    onTrouble: (trouble: unknown) => {
      throw trouble;
    },
  };
  const writer = createCaptureWriter(options as unknown as CaptureWriterOptions);
  const add = async (page: number) => {
    const url = `http://a.example/${page}`;
    const target = { url, urlHash: "0".repeat(64), depth: 0, attempt: 0, prior: null };
    await writer.add(capturedWithout(target, fault("TIMEOUT", "slow"), Date.now()), [], null);
  };
  const addText = async (length: number) => {
    const target = { url: "http://a.example/", urlHash: "0".repeat(64), depth: 0, attempt: 0, prior: null };
    const capture = capturedWithout(target, fault("TIMEOUT", "slow"), Date.now());
    const extraction = { text: "x".repeat(length), markdown: "", links: [] } as unknown as typeof capture.extraction;
    await writer.add({ ...capture, extraction }, [], null);
  };
  return { writer, add, addText, sent };
}

test("captures that nobody waits for are sent together, 15 s after the first of them", async () => {
  const { add, sent, writer } = writerOf(() => false);
  for (let page = 0; page < 14; page++) {
    await add(page);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(sent).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(2_000);
  // a batch is compressed in real time
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  writer.close();
});

test("captures are sent by the second while somebody looks, who may come later", async () => {
  let listened = false;
  const { add, sent, writer } = writerOf(() => listened);
  await add(0);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(sent).toHaveLength(0);
  listened = true;
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  await add(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  writer.close();
});

test("fifty captures wait for nothing", async () => {
  const { add, sent, writer } = writerOf(() => false);
  for (let page = 0; page < 50; page++) await add(page);
  expect(sent).toHaveLength(1);
  writer.close();
});

test("nothing is sent by time once the writer is closed", async () => {
  const { add, sent, writer } = writerOf(() => false);
  await add(0);
  writer.close();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sent).toHaveLength(0);
});

test("tasks of one worker hold back so much together, and whoever adds more delivers", async () => {
  const held = createHeldCaptures(100);
  const [one, other] = [writerOf(() => false, held), writerOf(() => false, held)];
  await one.addText(80);
  expect(one.sent).toHaveLength(0);
  await other.addText(80);
  expect([one.sent.length, other.sent.length]).toEqual([0, 1]);
  expect(held.full).toBe(false);
  // what a task that failed held is nobody's any more
  one.writer.close();
  await other.addText(90);
  expect(other.sent).toHaveLength(1);
  other.writer.close();
});
