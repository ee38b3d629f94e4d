/** What the editions API needs, built once per container. */

import { createRateLimiter, type RateLimiter } from "../../shared/access/rate-limit.ts";
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createListedObjects, type ListedObjects } from "../../shared/platform/aws/listed-objects.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { createUploads, type Uploads } from "../../shared/platform/aws/uploads.ts";
import { once } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export interface EditionsApi extends JobContainer {
  objects: ListedObjects;
  uploads: Uploads;
  pictures: Pick<ObjectStore, "get">;
  limiter: RateLimiter;
}

export const editionsApi = once((): EditionsApi => {
  const container = withReaders(createJobContainer("editions-api"));
  const s3 = s3Client();
  const { bucket, stateTable } = container.config;
  return {
    ...container,
    objects: createListedObjects(s3, bucket),
    uploads: createUploads(s3, bucket),
    pictures: createObjectStore(s3, bucket),
    limiter: createRateLimiter(container.dynamo, stateTable),
  };
});
