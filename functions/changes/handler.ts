/** Computes, each minute, what changed between captures of pages. */
import { z } from "zod";
import { computeChanges } from "../../shared/archive/changes/compute-changes.ts";
import { once } from "../../shared/platform/once.ts";
import { createUpkeepContainer } from "../adapters/archive/upkeep.ts";
import { createInvokedHandler } from "../adapters/invoked/handler.ts";

const dependencies = once(() => createUpkeepContainer("changes"));

/** For the comparison that is under way: two large pages. */
const RESERVE_MS = 60_000;

export const handler = createInvokedHandler({
  schema: z.unknown(),
  handle: async (_event, { remainingMs }) => {
    const all = dependencies();
    // an idle system leaves the database alone, so that it may pause: the sweep keeps the marker while pages are due
    if ((await all.flags.activeSince()) === undefined) return { pages: 0, changes: 0, failed: 0 };
    const computed = await computeChanges(all, () => remainingMs() > RESERVE_MS);
    if (computed.pages + computed.failed > 0) all.log.info("changes were computed", { ...computed });
    return computed;
  },
});
