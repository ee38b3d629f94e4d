/** The route that says whether the harvester can work: its database answers, and something on the internet does. */
import { z } from "zod";
import { askedProviders, type LoadedConfig } from "../../shared/harvest/config.ts";
import { REMOTE_PROVIDERS } from "../../shared/harvest/providers/registry.ts";
import { probeAnswerSchema } from "../../shared/harvest/remote-request.ts";
import { HARVEST_QUEUE } from "../../shared/harvest/run.ts";
import { ApiResponse, defineRoute } from "../adapters/api/route.ts";
import type { HarvestApi } from "./dependencies.ts";

const checkSchema = z.object({ ok: z.boolean(), detail: z.string() });
type Check = z.infer<typeof checkSchema>;

/** Anyone may ask, so the internet is probed no more often than this, in ms. */
const KEEP_MS = 30_000;
/** A probe that failed may have met a worker that was only starting: it is done again sooner. */
const KEEP_FAILED_MS = 5_000;
const PROBE_MS = 5_000;
/** Nor are the database and the files looked at more often than this, in ms. */
const HOLD_MS = 1_000;
let probed: { until: number; check: Promise<Check> } | undefined;

const answerSchema = z.object({
  ok: z.boolean(),
  database: checkSchema,
  configuration: checkSchema,
  internet: checkSchema,
});
type Health = z.infer<typeof answerSchema>;
let held: { at: number; answer: Promise<Health> } | undefined;

export const healthz = defineRoute(
  {
    method: "GET",
    path: "/healthz",
    scope: "public",
    summary: "Whether the harvester can work",
    otherwise: { 503: "What does not answer" },
    response: answerSchema,
  },
  async (_request, dependencies: HarvestApi) => {
    const now = dependencies.clock.now();
    if (held === undefined || now - held.at > HOLD_MS) held = { at: now, answer: healthOf(dependencies) };
    const answer = await held.answer;
    return answer.ok ? answer : new ApiResponse(503, answer);
  },
);

type Examined = Pick<HarvestApi, "sql" | "harvestConfig" | "clock" | "remote" | "log">;

export async function healthOf({ sql, harvestConfig, clock, remote, log }: Examined): Promise<Health> {
  const checked = async (check: () => Promise<Check>, otherwise: string): Promise<Check> => {
    try {
      return await check();
    } catch (error) {
      log.error("health check failed", { error });
      return { ok: false, detail: otherwise };
    }
  };
  const database = await checked(async () => {
    await sql`select 1`;
    return { ok: true, detail: "answers" };
  }, "does not answer");
  let loaded: LoadedConfig | undefined;
  const configuration = await checked(async () => {
    loaded = await harvestConfig();
    return { ok: true, detail: `prompt ${loaded.promptHash.slice(0, 12)}` };
  }, "is faulty: the log says where");
  if (loaded !== undefined && (probed === undefined || clock.now() > probed.until)) {
    const url = probeTarget(loaded);
    const ask = async () =>
      url === undefined
        ? { ok: true, detail: "not needed" }
        : probeAnswerSchema.parse(await remote.ask(HARVEST_QUEUE, { kind: "probe", url }, PROBE_MS));
    probed = { until: clock.now() + KEEP_MS, check: checked(ask, "did not answer in time") };
  }
  const current = probed;
  const internet = (await current?.check) ?? { ok: false, detail: "not probed" };
  if (current !== undefined && !internet.ok) current.until = Math.min(current.until, clock.now() + KEEP_FAILED_MS);
  return { ok: database.ok && configuration.ok && internet.ok, database, configuration, internet };
}

/** The first provider with an address of its own. */
function probeTarget({ config: { search } }: LoadedConfig): string | undefined {
  for (const name of askedProviders(search)) {
    if (name === "strandline") continue;
    const endpoint = search.providers[name]?.endpoint ?? REMOTE_PROVIDERS[name].defaultEndpoint;
    if (endpoint !== null && endpoint !== undefined) return endpoint;
  }
  return undefined;
}
