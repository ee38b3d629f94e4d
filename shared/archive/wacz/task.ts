/** Messages of the `exports` queue. */
import { z } from "zod";

export const EXPORTS_QUEUE = "exports";

export const exportTaskSchema = z.strictObject({ exportId: z.uuid() });
export type ExportTask = z.infer<typeof exportTaskSchema>;
