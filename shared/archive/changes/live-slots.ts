/** How many may look at live pages at once, over all containers: places in the state table, each with its end. */
import { createStateTable, expiresAt } from "../../platform/aws/state-table.ts";
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
  return {
    async take() {
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
    },
  };
}
