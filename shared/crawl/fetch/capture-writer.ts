/**
 * Delivers the captures of a task: the WARC segment is put, then the batch that points into it, then the message, then
 * progress is recorded. A worker that dies between two of these repeats work but loses none.
 */
import type { Capture } from "../../capture/capture.ts";
import { writeCaptureBatch } from "../../capture/capture-batch.ts";
import { createWarcSegment, type WarcMember, type WarcSegment, warcSegmentKey } from "../../capture/warc-segment.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Clock } from "../../platform/clock.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import type { FetchTask } from "../tasks/fetch-task.ts";
import type { RenderRequest } from "../tasks/render-task.ts";
import { sendToRender } from "../tasks/render-task.ts";
import type { HeldCaptures } from "./held-captures.ts";
import type { TaskLease } from "./task-lease.ts";

export interface CaptureWriter {
  /** @param rendering where the capture goes to the browser instead, which delivers it */
  add(
    capture: Capture,
    members: readonly WarcMember[],
    recordId: string | null,
    rendering?: RenderRequest | null,
  ): Promise<void>;
  /** Records that belong to no capture, such as those of robots.txt. */
  archive(members: readonly WarcMember[]): void;
  /**
   * Sends whatever is there.
   * @returns false where the lease was lost
   */
  flush(): Promise<boolean>;
  /** No more flushes by time, and nothing more is held back. */
  close(): void;
}

export interface CaptureWriterOptions {
  task: Pick<FetchTask, "jobId" | "taskId" | "config" | "deadline">;
  lease: TaskLease;
  /** What all tasks of the worker hold back. */
  held: HeldCaptures;
  objects: ObjectStore;
  queues: QueueSender;
  /** Fields of the warcinfo records. */
  warcinfo: Record<string, string>;
  clock: Clock;
  /** Epoch ms after which a service that is down is not waited for. */
  deadline: number;
  /** Whether somebody looks at the job as it goes. */
  isListened(): boolean;
  /** A batch of captures is on its way. */
  onDelivered(): void;
  /** A flush by time failed, or found the lease lost. */
  onTrouble(error: Error | "lease-lost"): void;
}

const FLUSH_CAPTURES = 50;
/** While somebody looks at the job as it goes. */
const FLUSH_LISTENED_MS = 1_000;
/** While nobody does: two objects, a message and a transaction for each page would cost more than its fetching. */
const FLUSH_UNHEARD_MS = 15_000;
/** Of compressed WARC: bounds the worker's memory. */
const FLUSH_WARC_BYTES = 16 * 1024 * 1024;
/**
 * UTF-16 code units: bounds a batch, four of which ingest holds at a time, as JSON and as values, in a heap of 512 MB.
 */
const FLUSH_TEXT_CHARS = 4 * 1024 * 1024;
/** What is given up has to be asked of its sites once more, so a service that is down is waited for this long. */
const PATIENCE_MS = 30_000;

export function createCaptureWriter(options: CaptureWriterOptions): CaptureWriter {
  const { task, lease, held, objects, queues, clock } = options;
  const { jobId, taskId } = task;
  let segment: WarcSegment | undefined;
  let segments = 0;
  let pending: { capture: Capture; rendering: RenderRequest | null }[] = [];
  let textChars = 0;
  /** What is counted as held back; no more is once the writer is closed. */
  let counted = 0;
  let closed = false;
  /** Epoch ms since which something waits. */
  let since = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<boolean> = Promise.resolve(true);

  const openSegment = (): WarcSegment => {
    if (segment === undefined) {
      const now = clock.now();
      const key = warcSegmentKey(jobId, taskId, lease.take, segments, now);
      segment = createWarcSegment(key, options.warcinfo, now);
      segments += 1;
    }
    return segment;
  };

  const count = (): void => {
    if (closed) return;
    const size = (segment?.bytes ?? 0) + textChars;
    held.add(size - counted);
    counted = size;
  };

  const send = async (): Promise<boolean> => {
    clearTimeout(timer);
    timer = undefined;
    const [file, all] = [segment, pending];
    [segment, pending, textChars] = [undefined, [], 0];
    count();
    const until = Math.min(options.deadline, clock.now() + PATIENCE_MS);
    if (file) await retryTransient(clock, { until }, () => objects.put(file.key, file.contents(), "application/warc"));
    if (all.length === 0) return true;
    const batch = all.filter(({ rendering }) => rendering === null).map(({ capture }) => capture);
    if (batch.length > 0) {
      const batchKey = await retryTransient(clock, { until }, () => writeCaptureBatch(objects, jobId, batch));
      await retryTransient(clock, { until }, () => queues.send("captures", { jobId, taskId, batchKey }));
      options.onDelivered();
    }
    for (const { capture, rendering } of all) {
      if (rendering === null) continue;
      await retryTransient(clock, { until }, () => sendToRender({ objects, queues }, task, capture, rendering));
    }
    return await retryTransient(clock, { until }, () => lease.record(all.map(({ capture }) => capture.urlHash)));
  };

  /** One at a time, in order. */
  const flush = (): Promise<boolean> => {
    flushing = flushing.then(send);
    return flushing;
  };

  const startTimer = (): void => {
    timer = setTimeout(() => void flushByTime(), FLUSH_LISTENED_MS);
  };

  /** Looks each second, since somebody may come to listen meanwhile. */
  const flushByTime = async (): Promise<void> => {
    if (!options.isListened() && clock.now() - since < FLUSH_UNHEARD_MS) return startTimer();
    try {
      if (!(await flush())) options.onTrouble("lease-lost");
    } catch (error) {
      options.onTrouble(error as Error);
    }
  };

  return {
    async add(capture, members, recordId, rendering = null) {
      const pointers = members.length === 0 ? [] : openSegment().append(members);
      const warc = pointers.find((pointer) => pointer.recordId === recordId) ?? null;
      pending.push({ capture: { ...capture, warc }, rendering });
      textChars += (rendering?.html.length ?? 0) + (rendering?.pdf?.length ?? 0);
      const { text = "", markdown = "", links = [] } = capture.extraction ?? {};
      textChars += links.reduce((sum, link) => sum + link.length, text.length + markdown.length);
      count();
      if (timer === undefined) {
        since = clock.now();
        startTimer();
      }
      const full =
        pending.length >= FLUSH_CAPTURES ||
        (segment?.bytes ?? 0) > FLUSH_WARC_BYTES ||
        textChars > FLUSH_TEXT_CHARS ||
        held.full;
      if (full && !(await flush())) options.onTrouble("lease-lost");
    },
    archive(members) {
      if (members.length > 0) openSegment().append(members);
    },
    flush,
    close() {
      clearTimeout(timer);
      closed = true;
      held.add(-counted);
    },
  };
}
