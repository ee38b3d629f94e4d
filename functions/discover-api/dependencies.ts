/** What the discovery API needs, built once per container. */
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { createJobContainer, type JobContainer } from "../adapters/api/container.ts";

export interface DiscoverApi extends JobContainer {
  objects: ObjectStore;
}

export const discoverApi = once((): DiscoverApi => {
  const container = createJobContainer("discover-api");
  return { ...container, objects: createObjectStore(s3Client(), container.config.bucket) };
});
