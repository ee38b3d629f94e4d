/**
 * The message of the `render` queue: one page that fetch has captured, to be opened in a browser. Its URL stays claimed
 * by the fetch task until the capture arrives, with what the browser made of it or without, so nothing is counted twice
 * or lost.
 */
import { z } from "zod";
import { type Capture, captureSchema } from "../../capture/capture.ts";
import { readClaimCheck, writeClaimCheck } from "../../capture/capture-batch.ts";
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import { crawlConfigSchema } from "../settings/crawl-config.ts";
import type { FetchTask } from "./fetch-task.ts";

export const RENDER_QUEUE = "render";

export const renderTaskSchema = z.strictObject({
  jobId: z.uuid(),
  /** The fetch task that has claimed the URL. */
  taskId: z.uuid(),
  urlHash: z.string().regex(/^[0-9a-f]{64}$/),
  claimKey: z.string(),
  /** Epoch ms after which no request leaves; null: none. */
  deadline: z.int().nullable(),
});
export type RenderTask = z.infer<typeof renderTaskSchema>;

const renderClaimSchema = z.strictObject({
  /** Complete as it is: what is delivered where rendering fails. */
  capture: captureSchema,
  reason: z.string(),
  /** Decoded body of the response. */
  html: z.string(),
  /** The body in Base64, of a PDF. */
  pdf: z.base64().optional(),
  config: crawlConfigSchema,
});
export type RenderClaim = z.infer<typeof renderClaimSchema>;

export interface RenderRequest {
  /** See `renderReason`. */
  reason: string;
  html: string;
  /** In Base64. */
  pdf?: string | undefined;
}

export async function sendToRender(
  { objects, queues }: { objects: ObjectStore; queues: QueueSender },
  { jobId, taskId, deadline, config }: Pick<FetchTask, "jobId" | "taskId" | "deadline" | "config">,
  capture: Capture,
  { reason, html, pdf }: RenderRequest,
): Promise<void> {
  const claim: RenderClaim = { capture, reason, html, ...(pdf !== undefined && { pdf }), config };
  const claimKey = await writeClaimCheck(objects, jobId, claim);
  const { urlHash } = capture;
  await queues.send(RENDER_QUEUE, { jobId, taskId, urlHash, claimKey, deadline } satisfies RenderTask);
}

/** @throws PermanentError where it is missing or not what it should be */
export async function readRenderClaim(objects: ObjectStore, { claimKey }: RenderTask): Promise<RenderClaim> {
  return await readClaimCheck(objects, claimKey, renderClaimSchema);
}
