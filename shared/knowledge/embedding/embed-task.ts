/** The message of the `embed` queue: chunks that want vectors. */
import { z } from "zod";

export const EMBED_BATCH_SIZE = 32;

export const embedTaskSchema = z.strictObject({
  jobId: z.uuid(),
  chunkIds: z.array(z.uuid()).min(1).max(EMBED_BATCH_SIZE),
});
export type EmbedTask = z.infer<typeof embedTaskSchema>;
