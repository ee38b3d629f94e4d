/** What the index of the archive needs, built once per container. */
import { createJobFlags, type JobFlags } from "../../shared/crawl/tasks/job-flags.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export interface CdxApi extends ApiContainer {
  flags: Pick<JobFlags, "markActive">;
}

export const cdxApi = once((): CdxApi => {
  const container = withReaders(createApiContainer("cdx-api"));
  return { ...container, flags: createJobFlags(container.dynamo, container.config.stateTable) };
});
