/** How many may look at live pages at once, over all containers: places in the state table, each with its end. */
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";

const PLACES = 4;
/** A place whose holder was lost is free again: longer than any function of the API runs. */
const LONGEST_MS = 35_000;

export interface LiveSlots {
  /** @returns what gives the place back; undefined where all are taken */
  take(): Promise<(() => Promise<void>) | undefined>;
}

export function createLiveSlots(
  dynamo: Parameters<typeof createStateTable>[0],
  TableName: string,
  now: () => number = Date.now,
): LiveSlots {
  const table = createStateTable(dynamo, TableName);
  const takePlace = async (): ReturnType<LiveSlots["take"]> => {
    for (let place = 0; place < PLACES; place++) {
      const pk = `live-slot#${place}`;
      const token = uuidv7();
      const change = {
        set: { taken_until: now() + LONGEST_MS, expires_at: expiresAt(now() + LONGEST_MS, 60) },
        when: "attribute_not_exists(taken_until) OR taken_until < :now",
        values: { now: now() },
      };
      if (!(await table.takeOnce(pk, "taken_by", change, token)).taken) continue;
      return async () => {
        await table.remove(pk, { when: "taken_by = :token", values: { token } });
      };
    }
    return undefined;
  };
  /** Those of this container that have a place, or may get one: the table is asked for no more than there are. */
  let here = 0;
  return {
    async take() {
      if (here >= PLACES) return undefined;
      here++;
      const giveBack = await takePlace().catch((error: unknown) => {
        here--;
        throw error;
      });
      if (giveBack === undefined) {
        here--;
        return undefined;
      }
      return async () => {
        await giveBack().finally(() => here--);
      };
    },
  };
}

const RETRY_AFTER_S = 5;

/**
 * Does what only so many may do at once. It is asked for before anything else is read, so that a crowd costs no more
 * than the places do.
 * @throws ApiError 429 LIVE_BUSY where all are taken
 */
export async function withLiveSlot<T>(slots: LiveSlots, work: () => Promise<T>): Promise<T> {
  const release = await slots.take();
  if (release === undefined) {
    throw new ApiError(429, "Others are comparing with live pages: try again in a few seconds", {
      code: "LIVE_BUSY",
      headers: { "retry-after": String(RETRY_AFTER_S) },
    });
  }
  try {
    return await work();
  } finally {
    await release();
  }
}
