/** Does the remote calls of the harvester on the side with internet, with the keys that it alone holds. */
import type { Agent } from "undici";
import type { z } from "zod";
import type { Clock } from "../platform/clock.ts";
import { ApiError, RetryableError } from "../platform/errors.ts";
import { CallFailed, callJson } from "../platform/json-client.ts";
import type { Logger } from "../platform/observability/log.ts";
import { expandPlaceholders } from "./expansion.ts";
import { askModel, LlmFailed } from "./llm/rewriter.ts";
import { failedRun, type ProviderRun, runProvider } from "./provider-run.ts";
import { REMOTE_PROVIDERS } from "./providers/registry.ts";
import {
  harvestRequestSchema,
  type probeAnswerSchema,
  type RewriteRequest,
  type rewriteAnswerSchema,
  type SearchRequest,
  type searchAnswerSchema,
} from "./remote-request.ts";
import { MAX_LENGTH } from "./strict-json.ts";
import { within } from "./within.ts";

export interface RequestTools {
  client: Agent;
  clock: Clock;
  random(): number;
  log: Logger;
  /** The value of a key; undefined where there is none of that name. */
  key(name: string): Promise<string | undefined>;
}

/**
 * Every fault is an answer: a remote call that were tried again would be paid for again.
 * @param body what `remoteCallSchema.request` holds
 * @param remainingMs until nobody waits for the answer
 * @throws ApiError that is the answer
 */
export async function answerHarvestRequest(tools: RequestTools, body: unknown, remainingMs: number): Promise<unknown> {
  const request = harvestRequestSchema.parse(body);
  if (request.kind === "rewrite") return await rewrite(tools, request, remainingMs);
  if (request.kind === "search") return await searchProviders(tools, request);
  return await probe(tools, request.url);
}

/** The answer of `llmFailed` must not be tried again with anything else. */
export const llmFailed = (details: string, cause?: unknown): ApiError =>
  new ApiError(502, "LLM call failed", { code: "LLM_FAILED", details: { text: details }, cause });

async function rewrite(
  tools: RequestTools,
  { llm, prompt, query }: RewriteRequest,
  remainingMs: number,
): Promise<z.infer<typeof rewriteAnswerSchema>> {
  const { apiKeyEnv, ...rest } = llm;
  const settings = { ...rest, timeoutMs: Math.min(rest.timeoutMs, remainingMs) };
  try {
    const apiKey = apiKeyEnv === null ? null : await keyOf(tools, apiKeyEnv);
    const text = await askModel(tools.client, settings, { prompt, query, apiKey });
    // one more than is read: it is refused there, and fits into the answer
    return { text: text.slice(0, MAX_LENGTH + 1) };
  } catch (error) {
    if (error instanceof LlmFailed) throw llmFailed(error.message, error);
    if (error instanceof NoKey) throw llmFailed(`auth: ${error.message}`, error);
    tools.log.error("the model was not asked", { error });
    throw llmFailed("failed on our side: the log has the details", error);
  }
}

class NoKey extends Error {}

/** @throws NoKey */
async function keyOf({ key, log }: RequestTools, name: string): Promise<string> {
  let value: string | undefined;
  try {
    value = await key(name);
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    log.error("no key can be read", { error });
    throw new NoKey("the secret of the provider keys cannot be read");
  }
  if (value === undefined) throw new NoKey(`no key: set ${name}`);
  return value;
}

async function searchProviders(
  tools: RequestTools,
  { query, providers, want, deadline, timeoutMs }: SearchRequest,
): Promise<z.infer<typeof searchAnswerSchema>> {
  // days stay as they are; what is no day is a failure here too
  const expanded = expandPlaceholders(query, tools.clock.now());
  const share = Math.floor(ANSWER_BYTES / providers.length);
  const runs = providers.map(async ({ name, endpoint, apiKeyEnv, engineIdEnv }): Promise<ProviderRun> => {
    const dialect = REMOTE_PROVIDERS[name];
    try {
      const address = endpoint ?? dialect.defaultEndpoint;
      if (address === null) return failedRun(name, "no endpoint: name it in the configuration");
      const left = Math.max(0, deadline - tools.clock.now());
      const held = (variable: string | null) => (variable === null ? null : keyOf(tools, variable));
      const keys = await within(
        left,
        tools.clock,
        async () => [await held(apiKeyEnv), await held(engineIdEnv)] as const,
      );
      if (keys === undefined) return failedRun(name, "timeout");
      const [apiKey, engineId] = keys;
      const options = { ...tools, want, deadline, timeoutMs };
      return cutTo(share, await runProvider(dialect, { endpoint: address, apiKey, engineId }, expanded, options));
    } catch (error) {
      if (error instanceof NoKey) return failedRun(name, error.message);
      tools.log.error("a provider was not asked", { provider: name, error });
      return failedRun(name, "failed on our side: the log has the details");
    }
  });
  return { runs: await Promise.all(runs) };
}

/** Of all providers' URLs in one answer, which DynamoDB keeps in an item of 400 KB at the most. */
const ANSWER_BYTES = 300_000;

/** The best URLs that go into so many bytes of JSON. */
function cutTo(bytes: number, run: ProviderRun): ProviderRun {
  let used = 0;
  const fit = run.urls.findIndex((url) => {
    used += Buffer.byteLength(JSON.stringify(url)) + 1;
    return used > bytes;
  });
  if (fit === -1) return run;
  return { ...run, urls: run.urls.slice(0, fit), skipped: run.skipped + run.urls.length - fit };
}

const PROBE_TIMEOUT_MS = 3000;

/** Whether the name resolves and something answers there, whatever it answers. */
async function probe({ client }: RequestTools, url: string): Promise<z.infer<typeof probeAnswerSchema>> {
  try {
    const { status } = await callJson({ client, method: "GET", url: new URL("/", url), timeoutMs: PROBE_TIMEOUT_MS });
    return { ok: true, detail: `answered ${status}` };
  } catch (error) {
    if (error instanceof CallFailed) return { ok: false, detail: error.reason };
    throw error;
  }
}
