/** Makes new snapshots searchable, each minute. */
import { z } from "zod";
import { indexSnapshots } from "../../shared/archive/search/index-snapshots.ts";
import { once } from "../../shared/platform/once.ts";
import { createUpkeepContainer } from "../adapters/archive/upkeep.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => createUpkeepContainer("snapshot-index"));

/** For a large page, and for writing what was read. */
const RESERVE_MS = 60_000;

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone: the sweep keeps the marker while snapshots are due
    if ((await all.flags.activeSince()) === undefined) return { snapshots: 0, failed: 0 };
    const indexed = await indexSnapshots(all, () => remainingMs() > RESERVE_MS);
    if (indexed.snapshots + indexed.failed > 0) all.log.info("snapshots were indexed", { ...indexed });
    return indexed;
  },
});
