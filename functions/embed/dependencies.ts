/** What the embed worker works with. */
import { openVectorSide } from "../../shared/knowledge/search/vector-side.ts";
import { configuredDatabase } from "../../shared/platform/database/database.ts";
import { once } from "../../shared/platform/once.ts";
import { createQueueContainer } from "../adapters/queue/container.ts";

/** Built once per container. */
export const dependencies = once(() => {
  const container = createQueueContainer("embed");
  return { ...container, sql: configuredDatabase(container.config), vectorSide: openVectorSide(container.config) };
});
