/**
 * The message of the fetch queues: up to 50 URLs of one host, and all that fetch must know, since it has no database.
 */
import { z } from "zod";
import { crawlConfigSchema } from "../settings/crawl-config.ts";
import { PRIORITIES, type Priority } from "../settings/job-settings.ts";
import { scopeSchema } from "../urls/scope.ts";

export const MAX_URLS_PER_TASK = 50;

/** The capture that a conditional request may be answered against. */
const priorCaptureSchema = z.strictObject({
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  payloadDigest: z.string().nullable(),
  /** The capture that holds the response itself; null where it is not known. */
  captureId: z.int().nullable(),
  /** For the revisit record: what it refers to, a response of the archive. */
  recordId: z.uuid().nullable(),
  url: z.string(),
  fetchedAt: z.iso.datetime(),
});
export type PriorCapture = z.infer<typeof priorCaptureSchema>;

export const fetchTaskSchema = z.strictObject({
  taskId: z.uuid(),
  jobId: z.uuid(),
  priority: z.enum(PRIORITIES),
  /** Lower-case host with its port where that is not the scheme's default: the unit of politeness. */
  host: z.string(),
  scope: scopeSchema,
  config: crawlConfigSchema,
  /** Epoch ms after which no request leaves; null: none. */
  deadline: z.int().nullable(),
  /** Requests under way at once for this task, at the most; null: as the fetcher is set. */
  concurrency: z.int().positive().nullable(),
  /** Whether it is the one to tell the job that it has begun. */
  announce: z.boolean().default(false),
  /** Whether the text of the links is wanted, too. */
  anchors: z.boolean().default(false),
  /**
   * How often it was deferred until this message was sent, which tells the message of the last deferral from copies of
   * earlier ones; null: not known to who sent it.
   */
  deferrals: z.int().nonnegative().nullable().default(0),
  urls: z
    .array(
      z.strictObject({
        url: z.url({ protocol: /^https?$/ }),
        urlHash: z.string().regex(/^[0-9a-f]{64}$/),
        depth: z.int().nonnegative(),
        attempt: z.int().nonnegative(),
        prior: priorCaptureSchema.nullable(),
      }),
    )
    .min(1)
    .max(MAX_URLS_PER_TASK),
});
export type FetchTask = z.infer<typeof fetchTaskSchema>;

export const fetchQueue = (priority: Priority): string => `fetch-${priority}`;
/** Tasks of slow hosts on their way to a worker that has others. */
export const SHARED_QUEUE = "fetch-shared";

const prioritySchema = z.looseObject({ priority: z.enum(PRIORITIES) });

/** The queue by which a message of a fetch queue came first, as far as it can be read. */
export function firstQueueOf(queue: string, body: string): string {
  if (queue !== SHARED_QUEUE) return queue;
  try {
    return fetchQueue(prioritySchema.parse(JSON.parse(body)).priority);
  } catch {
    return fetchQueue("normal");
  }
}
