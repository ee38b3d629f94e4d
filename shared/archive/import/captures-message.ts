/** The message by which ingest takes in a batch of an import. */
import type { CapturesMessage } from "../../capture/capture-batch.ts";

export interface ImportedRange {
  jobId: string;
  batchKey: string;
  /** Of the captures of the batch object: from the first to before the last. */
  first: number;
  last: number;
}

export const capturesMessage = ({ jobId, batchKey, first, last }: ImportedRange): CapturesMessage => ({
  jobId,
  taskId: null,
  batchKey,
  range: [first, last],
});
