/** How often the harvester looks whether the internet is there, for those who ask whether it is well. */
import { expect, it } from "vitest";
import { healthOf } from "../../../functions/harvest-api/healthz.ts";
import { loadHarvestConfig } from "../../../shared/harvest/config.ts";
import { systemClock } from "../../../shared/platform/clock.ts";
import { createLogger } from "../../../shared/platform/observability/log.ts";
import { testDatabase } from "../../services/index.ts";

const SHIPPED = `${import.meta.dirname}/../../../functions/harvest-api/config/harvest.yaml`;

it("a probe that went well counts for half a minute, one that failed for five seconds", async () => {
  const { sql } = await testDatabase();
  let now = 0;
  let ok = false;
  let probes = 0;
  const look = async (seconds: number) => {
    now = seconds * 1000;
    const health = await healthOf({
      sql,
      harvestConfig: () => loadHarvestConfig(SHIPPED),
      clock: { ...systemClock, now: () => now },
      remote: {
        ask: async () => {
          probes += 1;
          return { ok, detail: "as the test says" };
        },
      },
      log: createLogger({}, "error", () => undefined),
    });
    return [health.ok, probes];
  };
  expect(await look(0), "the first").toEqual([false, 1]);
  ok = true;
  expect(await look(4), "kept").toEqual([false, 1]);
  expect(await look(6), "looked at again").toEqual([true, 2]);
  ok = false;
  expect(await look(35), "kept for longer").toEqual([true, 2]);
  expect(await look(37), "and then looked at again").toEqual([false, 3]);
});
