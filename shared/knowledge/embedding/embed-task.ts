/** The message of the embed queues, chunks that want vectors, and its sender. */
import { z } from "zod";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Logger } from "../../platform/observability/log.ts";

const EMBED_BATCH_SIZE = 128;

/** Of the job whose chunks they are. */
type EmbedPriority = "high" | "normal" | "low";
export const embedQueue = (priority: EmbedPriority): string => `embed-${priority}`;
export const isEmbedQueue = (name: string): boolean => /^embed-(high|normal|low)$/.test(name);

export const embedTaskSchema = z.strictObject({
  jobId: z.uuid(),
  chunkIds: z.array(z.uuid()).min(1).max(EMBED_BATCH_SIZE),
});
export type EmbedTask = z.infer<typeof embedTaskSchema>;

/** Sends the chunks to the embedder. What is lost here is sent again by the sweep. */
export async function sendEmbedTasks(
  { queues, log }: { queues: QueueSender; log: Logger },
  { jobId, priority }: { jobId: string; priority: EmbedPriority },
  chunkIds: readonly string[],
): Promise<void> {
  const tasks: EmbedTask[] = [];
  for (let start = 0; start < chunkIds.length; start += EMBED_BATCH_SIZE) {
    tasks.push({ jobId, chunkIds: chunkIds.slice(start, start + EMBED_BATCH_SIZE) });
  }
  try {
    await queues.sendAll(embedQueue(priority), tasks);
  } catch (error) {
    log.warn("embed tasks were not sent: the sweep sends them", { error, job_id: jobId });
  }
}
