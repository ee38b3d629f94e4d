/** What a run on the WARC files may be, and the messages of the `warc-runs` queue. */
import { z } from "zod";

export const WARC_RUNS_QUEUE = "warc-runs";

export const warcRunTaskSchema = z.strictObject({ runId: z.uuid() });
export type WarcRunTask = z.infer<typeof warcRunTaskSchema>;

/**
 * How far a file is verified; each looks at what those before it do. `readable`: the object is the one that is known,
 * and a record can be read at its start; `gzip`: all can be decompressed, and the bytes are those that were there
 * before; `parsed`: it is nothing but records, and each capture finds its own; `digests`: these are what they were
 * taken over.
 */
export const LEVELS = ["readable", "gzip", "parsed", "digests"] as const;
export type Level = (typeof LEVELS)[number];

export interface FileFault {
  code: string;
  message: string;
  /** Null: of the file as a whole. */
  offset: number | null;
}
