/** What replay needs, built once per container. */
import { s3Client } from "../../shared/platform/aws/clients.ts";
import { createObjectStore, type ObjectStore } from "../../shared/platform/aws/objects.ts";
import { once } from "../../shared/platform/once.ts";
import { type ApiContainer, createApiContainer } from "../adapters/api/container.ts";

export interface ReplayFunction extends ApiContainer {
  objects: ObjectStore;
}

export const replayFunction = once((): ReplayFunction => {
  const container = createApiContainer("replay");
  return { ...container, objects: createObjectStore(s3Client(), container.config.bucket) };
});
