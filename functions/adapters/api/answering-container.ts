/** What the API functions build once per container that take jobs and answer with the results. */
import type { ResultReader } from "../../../shared/crawl/results/pages.ts";
import { s3Client } from "../../../shared/platform/aws/clients.ts";
import { createObjectStore } from "../../../shared/platform/aws/objects.ts";
import { type Clock, systemClock } from "../../../shared/platform/clock.ts";
import { createJobContainer, type JobContainer } from "./job-container.ts";

export interface AnsweringContainer extends JobContainer, ResultReader {
  clock: Clock;
}

/** @param name the function's, for its log lines */
export function createAnsweringContainer(name: string): AnsweringContainer {
  const container = createJobContainer(name);
  const { bucket, spiderMaxContentBytes } = container.config;
  return {
    ...container,
    objects: createObjectStore(s3Client(), bucket),
    maxContentBytes: spiderMaxContentBytes,
    clock: systemClock,
  };
}
