/** What a fetch task tells of its job before, or instead of, its captures: a message of the `captures` queue. */
import { z } from "zod";

export const hostWaitSchema = z.strictObject({
  /** `CIRCUIT_OPEN`: it failed too often. `RATE_LIMITED`: it asked to be left alone. */
  code: z.enum(["CIRCUIT_OPEN", "RATE_LIMITED"]),
  message: z.string(),
  until: z.iso.datetime(),
});

/** It names no task: whoever loses it loses nothing of the task's work. */
export const taskNoteSchema = z.strictObject({
  jobId: z.uuid(),
  /** When the first request of the job left. */
  begunAt: z.iso.datetime().nullable(),
  /** The host that its task waits for. */
  waits: hostWaitSchema.extend({ host: z.string() }).nullable(),
});
export type TaskNote = z.infer<typeof taskNoteSchema>;
