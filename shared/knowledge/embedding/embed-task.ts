/** The message of the `embed` queue, chunks that want vectors, and its sender. */
import { z } from "zod";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Logger } from "../../platform/observability/log.ts";

const EMBED_BATCH_SIZE = 32;

export const embedTaskSchema = z.strictObject({
  jobId: z.uuid(),
  chunkIds: z.array(z.uuid()).min(1).max(EMBED_BATCH_SIZE),
});
export type EmbedTask = z.infer<typeof embedTaskSchema>;

/** Sends the chunks to the embedder. What is lost here is sent again by the sweep. */
export async function sendEmbedTasks(
  { queues, log }: { queues: QueueSender; log: Logger },
  jobId: string,
  chunkIds: readonly string[],
): Promise<void> {
  const tasks: EmbedTask[] = [];
  for (let start = 0; start < chunkIds.length; start += EMBED_BATCH_SIZE) {
    tasks.push({ jobId, chunkIds: chunkIds.slice(start, start + EMBED_BATCH_SIZE) });
  }
  try {
    await queues.sendAll("embed", tasks);
  } catch (error) {
    log.warn("embed tasks were not sent: the sweep sends them", { error, job_id: jobId });
  }
}
