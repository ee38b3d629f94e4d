/** Where a page leaves the `render` queue: as one capture, rendered or not. */
import type { Capture, CaptureError, Rendering } from "../../capture/capture.ts";
import { writeCaptureBatch } from "../../capture/capture-batch.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Clock } from "../../platform/clock.ts";
import { retryTransient } from "../../platform/transient-errors.ts";
import { type RenderClaim, type RenderTask, readRenderClaim } from "../tasks/render-task.ts";

interface DeliveryDependencies {
  objects: ObjectStore;
  queues: QueueSender;
  clock: Clock;
}

const PATIENCE_MS = 30_000;

export async function deliverRendered(
  { objects, queues, clock }: DeliveryDependencies,
  { jobId, taskId }: RenderTask,
  capture: Capture,
): Promise<void> {
  const until = clock.now() + PATIENCE_MS;
  const batchKey = await retryTransient(clock, { until }, () => writeCaptureBatch(objects, jobId, [capture]));
  await retryTransient(clock, { until }, () => queues.send("captures", { jobId, taskId, batchKey }));
}

/**
 * Delivers the page as it was fetched, for a message that no delivery could complete.
 * @throws PermanentError where the claim cannot be read
 */
export async function deliverUnrendered(dependencies: DeliveryDependencies, task: RenderTask): Promise<void> {
  const claim = await readRenderClaim(dependencies.objects, task);
  const error = { code: "DEAD_LETTERED", message: "No try could render the page", retryable: false };
  await deliverRendered(dependencies, task, { ...claim.capture, rendered: renderingOf(claim, error) });
}

/** A rendering without a DOM. */
export function renderingOf({ reason }: RenderClaim, error: CaptureError | null): Rendering {
  return { reason, renderer: null, warc: null, error };
}
