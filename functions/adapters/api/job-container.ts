/** What every API function that takes jobs builds once per container. */
import { createUrlInspector, type UrlInspector } from "../../../shared/access/url-inspection.ts";
import type { JobDependencies } from "../../../shared/crawl/jobs/dependencies.ts";
import { createJobFlags } from "../../../shared/crawl/tasks/job-flags.ts";
import { sqsClient } from "../../../shared/platform/aws/clients.ts";
import { createQueueSender } from "../../../shared/platform/aws/queues.ts";
import { type ApiContainer, createApiContainer } from "./container.ts";

export interface JobContainer extends ApiContainer, Pick<JobDependencies, "queues" | "flags"> {
  /** Judges the URLs of requests. */
  inspector: UrlInspector;
}

/** @param name the function's, for its log lines */
export function createJobContainer(name: string): JobContainer {
  const container = createApiContainer(name);
  const { config, dynamo } = container;
  return {
    ...container,
    queues: createQueueSender(sqsClient(), config.queueUrlPrefix),
    flags: createJobFlags(dynamo, config.stateTable),
    inspector: createUrlInspector(config.allowHosts),
  };
}
