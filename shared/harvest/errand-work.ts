/** The side with internet: does the errands of the harvester, with the keys that it alone holds. */
import type { Agent } from "undici";
import type { z } from "zod";
import type { Clock } from "../platform/clock.ts";
import { ApiError } from "../platform/errors.ts";
import {
  harvestErrandSchema,
  type probeAnswerSchema,
  type RewriteErrand,
  type rewriteAnswerSchema,
  type SearchErrand,
  type searchAnswerSchema,
} from "./errand.ts";
import { expandPlaceholders } from "./expansion.ts";
import { CallFailed, callApi } from "./http.ts";
import { askModel, LlmFailed } from "./llm/rewriter.ts";
import { type ProviderRun, runProvider } from "./provider-run.ts";
import { REMOTE_PROVIDERS } from "./providers/registry.ts";

export interface ErrandTools {
  client: Agent;
  clock: Clock;
  random(): number;
  /** The value of a key; undefined where there is none of that name. */
  key(name: string): Promise<string | undefined>;
}

/** What `errandSchema.request` holds. @throws ApiError that is the answer */
export async function doErrand(tools: ErrandTools, request: unknown): Promise<unknown> {
  const errand = harvestErrandSchema.parse(request);
  if (errand.kind === "rewrite") return await rewrite(tools, errand);
  if (errand.kind === "search") return await searchProviders(tools, errand);
  return await probe(tools, errand.url);
}

/** The answer of `llmFailed` must not be tried again with anything else. */
export const llmFailed = (details: string, cause?: unknown): ApiError =>
  new ApiError(502, "LLM call failed", { code: "LLM_FAILED", details: { text: details }, cause });

async function rewrite(
  tools: ErrandTools,
  { llm, prompt, query }: RewriteErrand,
): Promise<z.infer<typeof rewriteAnswerSchema>> {
  const { apiKeyEnv, ...settings } = llm;
  const apiKey = apiKeyEnv === null ? null : await tools.key(apiKeyEnv);
  if (apiKey === undefined) throw llmFailed(`auth: there is no key: set ${apiKeyEnv}`);
  try {
    return { text: await askModel(tools.client, settings, { prompt, query, apiKey }) };
  } catch (error) {
    if (error instanceof LlmFailed) throw llmFailed(error.message, error);
    throw error;
  }
}

async function searchProviders(
  tools: ErrandTools,
  { query, providers, want, deadline, timeoutMs }: SearchErrand,
): Promise<z.infer<typeof searchAnswerSchema>> {
  // days stay as they are; what is no day is a failure here too
  const expanded = expandPlaceholders(query, tools.clock.now());
  const runs = providers.map(async ({ name, endpoint, apiKeyEnv, engineIdEnv }): Promise<ProviderRun> => {
    const dialect = REMOTE_PROVIDERS[name];
    const without = (error: string): ProviderRun => ({
      provider: name,
      queryUsed: null,
      urls: [],
      latencyMs: 0,
      requests: 0,
      error,
    });
    const address = endpoint ?? dialect.defaultEndpoint;
    if (address === null) return without("no endpoint: name it in the configuration");
    const held: (string | null)[] = [];
    for (const variable of [apiKeyEnv, engineIdEnv]) {
      const value = variable === null ? null : await tools.key(variable);
      if (value === undefined) return without(`no key: set ${variable}`);
      held.push(value);
    }
    const [apiKey = null, engineId = null] = held;
    const options = { ...tools, want, deadline, timeoutMs };
    return await runProvider(dialect, { endpoint: address, apiKey, engineId }, expanded, options);
  });
  return { runs: await Promise.all(runs) };
}

const PROBE_TIMEOUT_MS = 3000;

/** Whether the name resolves and something answers there, whatever it answers. */
async function probe({ client }: ErrandTools, url: string): Promise<z.infer<typeof probeAnswerSchema>> {
  try {
    const { status } = await callApi(client, {
      method: "GET",
      url: new URL("/", url),
      headers: {},
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    return { ok: true, detail: `answered ${status}` };
  } catch (error) {
    if (error instanceof CallFailed) return { ok: false, detail: error.reason };
    throw error;
  }
}
