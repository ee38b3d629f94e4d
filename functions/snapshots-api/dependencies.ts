/** What the snapshots API needs, built once per container. */
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";
import { withReaders } from "../adapters/archive/counted-readers.ts";

export interface SnapshotsApi extends ApiContainer {
  objects: ObjectStore;
}

export const snapshotsApi = once((): SnapshotsApi => {
  const container = withReaders(createApiContainer("snapshots-api"));
  return { ...container, objects: createObjectStore(s3Client(), container.config.bucket) };
});
