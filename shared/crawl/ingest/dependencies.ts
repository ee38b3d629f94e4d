/** What ingest needs: the database, the bucket with the capture batches, and the queues. */
import type { ObjectStore } from "../../platform/aws/objects.ts";
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";

export interface IngestDependencies {
  sql: Sql;
  objects: ObjectStore;
  queues: QueueSender;
  log: Logger;
  /** What the configured embedder reads at the most, in tokens; null where there is none. */
  embedding: { maxTokens: number } | null;
}
