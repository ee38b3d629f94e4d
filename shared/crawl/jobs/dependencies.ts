/** What work on jobs needs: the database, the queues, and the flags that fetch reads. */
import type { QueueSender } from "../../platform/aws/queues.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/log.ts";
import type { JobFlags } from "../tasks/job-flags.ts";

export interface JobDependencies {
  sql: Sql;
  queues: QueueSender;
  flags: JobFlags;
  log: Logger;
}
