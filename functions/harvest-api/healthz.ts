/** Whether the harvester can work: its database answers, and something on the internet does. */
import { z } from "zod";
import type { LoadedConfig } from "../../shared/harvest/config.ts";
import { probeAnswerSchema } from "../../shared/harvest/errand.ts";
import { REMOTE_PROVIDERS } from "../../shared/harvest/providers/registry.ts";
import { HARVEST_QUEUE } from "../../shared/harvest/run.ts";
import { Answer, defineRoute } from "../adapters/api-route.ts";
import type { HarvestApi } from "./dependencies.ts";

const checkSchema = z.object({ ok: z.boolean(), detail: z.string() });
type Check = z.infer<typeof checkSchema>;

/** Anyone may ask, so the internet is probed no more often than this, in ms. */
const KEEP_MS = 30_000;
const PROBE_MS = 5_000;
let probed: { at: number; check: Promise<Check> } | undefined;

export const healthz = defineRoute(
  {
    method: "GET",
    path: "/healthz",
    scope: "public",
    summary: "Whether the harvester can work",
    answer: z.object({ ok: z.boolean(), database: checkSchema, configuration: checkSchema, internet: checkSchema }),
  },
  async (_request, dependencies: HarvestApi) => {
    const { sql, harvestConfig, clock } = dependencies;
    const database = await checked(async () => {
      await sql`select 1`;
      return { ok: true, detail: "answers" };
    }, "does not answer");
    let loaded: LoadedConfig | undefined;
    const configuration = await checked(async () => {
      loaded = await harvestConfig();
      return { ok: true, detail: `prompt ${loaded.promptHash.slice(0, 12)}` };
    }, "is faulty: the log says where");
    if (loaded !== undefined && (probed === undefined || clock.now() - probed.at > KEEP_MS)) {
      const url = probeTarget(loaded);
      const ask = async () =>
        url === undefined
          ? { ok: true, detail: "not needed" }
          : probeAnswerSchema.parse(await dependencies.errands.ask(HARVEST_QUEUE, { kind: "probe", url }, PROBE_MS));
      probed = { at: clock.now(), check: checked(ask, "did not answer in time") };
    }
    const internet = (await probed?.check) ?? { ok: false, detail: "not probed" };
    const ok = database.ok && configuration.ok && internet.ok;
    const body = { ok, database, configuration, internet };
    return ok ? body : new Answer(503, body);

    async function checked(check: () => Promise<Check>, otherwise: string): Promise<Check> {
      try {
        return await check();
      } catch (error) {
        dependencies.log.error("health check failed", { error });
        return { ok: false, detail: otherwise };
      }
    }
  },
);

/** The first provider with an address of its own. */
function probeTarget({ config: { search } }: LoadedConfig): string | undefined {
  for (const name of search.cascade_order) {
    if (name === "strandline") continue;
    const endpoint = search.providers[name]?.endpoint ?? REMOTE_PROVIDERS[name].defaultEndpoint;
    if (endpoint !== null && endpoint !== undefined) return endpoint;
  }
  return undefined;
}
