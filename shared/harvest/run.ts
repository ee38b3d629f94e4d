/** Makes one search run: rewrites, expands, asks all providers at once, merges, stores. */
import { z } from "zod";
import type { RemoteCaller } from "../platform/aws/remote-call.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/log.ts";
import { llmFailed } from "./answer-request.ts";
import { askedProviders, HarvestConfigError, type LoadedConfig, modelKey, providerAccess } from "./config.ts";
import { type ExpandedQuery, expandPlaceholders, LeftoverPlaceholder } from "./expansion.ts";
import { type MergedUrl, mergeUrls } from "./merge.ts";
import { failedRun, type ProviderRun } from "./provider-run.ts";
import { OWN_PROVIDER, type RemoteProvider } from "./providers/registry.ts";
import { InvalidQuery, parseNeutralQuery } from "./query-schema.ts";
import { QueryTooLong, queryText, templateText } from "./query-text.ts";
import { type RewriteRequest, rewriteAnswerSchema, type SearchRequest, searchAnswerSchema } from "./remote-request.ts";
import { findTemplate, insertRun, keepTemplate, type Template, type TemplateKey } from "./store.ts";
import { recordProviders } from "./telemetry.ts";
import { within } from "./within.ts";

export interface OwnAnswer {
  queryUsed: string;
  urls: string[];
  /** Why there may be fewer than there are; null where nothing is missing. */
  error: string | null;
}

export interface HarvestDependencies {
  sql: Sql;
  remote: RemoteCaller;
  clock: Clock;
  log: Logger;
  /** Reads the configuration as it stands now. */
  harvestConfig(): Promise<LoadedConfig>;
  /** Searches this system's own index. */
  searchOwn(query: ExpandedQuery, want: number): Promise<OwnAnswer>;
}

export interface HarvestRequest {
  query: string;
  options: { lang?: string | undefined; maxResults?: number | undefined };
  apiKeyId: string | null;
  /** Of the run, where its request may be sent again: two runs have never the same. */
  requestId?: string | undefined;
}

export interface HarvestOutcome {
  runId: number;
  template: Template;
  cached: boolean;
  runs: ProviderRun[];
  merged: MergedUrl[];
}

/** The queue of the side with internet. */
export const HARVEST_QUEUE = "harvest";
/** For the queue and the way back, beyond what the work itself may take, in ms. */
const WAY_MS = 1500;

/**
 * @throws ApiError 400 `invalid schema` where the model's answer does not fit, before any provider is asked; 502
 * `LLM call failed`; 502 `providers failed` with the reason of each; 503 where the configuration is faulty
 */
export async function harvest(dependencies: HarvestDependencies, request: HarvestRequest): Promise<HarvestOutcome> {
  const { sql, clock, log } = dependencies;
  const loaded = await dependencies.harvestConfig().catch((cause: unknown) => {
    if (!(cause instanceof HarvestConfigError)) throw cause;
    const text = "its configuration is faulty: the log names the file and the field";
    throw new ApiError(503, "the harvester cannot work", { code: "HARVEST_CONFIG_INVALID", details: { text }, cause });
  });
  const { config, promptHash } = loaded;
  const key = { originalQuery: request.query, promptHash, model: `${config.llm.provider}/${config.llm.model}` };
  const { template, cached } = await templateOf(dependencies, loaded, key);
  const query = refusing(() => expandPlaceholders(withOptions(template.query, request, loaded), clock.now()));
  const runs = await searchAll(dependencies, loaded, query);
  let runId: number | undefined;
  try {
    const answered = runs.filter(({ error, urls }) => error === null || urls.length > 0);
    if (answered.length === 0) {
      const text = runs.map(({ provider, error }) => `${provider}:${error}`).join("; ");
      throw new ApiError(502, "providers failed", { code: "PROVIDERS_FAILED", details: { text } });
    }
    const merged = mergeUrls(answered);
    runId = await insertRun(sql, {
      query: request.query,
      rewrittenTemplate: template.text,
      config: {
        provider: config.search.provider,
        cascade_order: config.search.cascade_order,
        options: request.options,
        llm: { provider: config.llm.provider, model: config.llm.model, prompt_hash: promptHash, cached },
        final_queries: finalQueries(runs),
        providers: runs.map(({ urls, ...run }) => ({ ...run, urls: urls.length })),
      },
      providersUsed: answered.map(({ provider }) => provider),
      apiKeyId: request.apiKeyId,
      requestId: request.requestId,
      raw: answered.flatMap(({ provider, urls, latencyMs }) =>
        urls.map((url, index) => ({ provider, url, rank: index + 1, meta: { latency_ms: latencyMs } })),
      ),
      processed: merged,
    });
    return { runId, template, cached, runs, merged };
  } finally {
    recordProviders(log, runs, clock.now(), runId);
  }
}

/** By provider, of those that could be asked. */
export function finalQueries(runs: readonly ProviderRun[]): Record<string, string> {
  return Object.fromEntries(
    runs.flatMap(({ provider, queryUsed }) => (queryUsed === null ? [] : [[provider, queryUsed]])),
  );
}

async function templateOf(
  { sql, remote, clock }: HarvestDependencies,
  { config: { llm }, prompt }: LoadedConfig,
  key: TemplateKey,
): Promise<{ template: Template; cached: boolean }> {
  let unusable = false;
  const held = await findTemplate(sql, key).catch((error: unknown) => {
    if (!(error instanceof InvalidQuery)) throw error;
    // a stored template that the schema does not take any more is written anew
    unusable = true;
    return undefined;
  });
  if (held !== undefined) return { template: held, cached: true };
  const request: RewriteRequest = {
    kind: "rewrite",
    llm: {
      provider: llm.provider,
      model: llm.model,
      endpoint: llm.endpoint ?? null,
      temperature: llm.temperature,
      maxTokens: llm.max_tokens,
      timeoutMs: llm.timeout_ms,
      apiKeyEnv: modelKey(llm),
    },
    prompt,
    query: key.originalQuery,
  };
  const answer = await remote.ask(HARVEST_QUEUE, request, llm.timeout_ms + WAY_MS).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== "REMOTE_TIMEOUT") throw error;
    throw llmFailed(`timeout after ${llm.timeout_ms / 1000}s`, error);
  });
  const { text } = rewriteAnswerSchema.parse(answer);
  const template = refusing(() => {
    const query = parseNeutralQuery(text);
    // what no day would make a query of is not kept
    queryText(expandPlaceholders(query, clock.now()));
    return { query, text: templateText(query) };
  });
  return { template: await keepTemplate(sql, key, template, unusable), cached: false };
}

/** What the caller says outweighs what the model read out of the question. */
function withOptions(
  query: Template["query"],
  { options }: HarvestRequest,
  { config }: LoadedConfig,
): Template["query"] {
  const { default_options } = config.search;
  const { lang, max_results } = query.filters;
  const language = options.lang ?? lang ?? default_options.lang;
  return {
    ...query,
    filters: {
      ...query.filters,
      ...(language !== undefined && { lang: language }),
      max_results: options.maxResults ?? max_results ?? default_options.maxResults,
    },
  };
}

async function searchAll(
  { remote, clock, searchOwn, log }: HarvestDependencies,
  { config: { search } }: LoadedConfig,
  query: ExpandedQuery,
): Promise<ProviderRun[]> {
  const names = askedProviders(search);
  const want = query.filters.max_results ?? search.default_options.maxResults;
  const deadline = clock.now() + search.deadline_ms;
  const providers = names.filter((name): name is RemoteProvider => name !== OWN_PROVIDER);

  const askRemote = async (): Promise<ProviderRun[]> => {
    if (providers.length === 0) return [];
    const { expanded: _, ...neutral } = query;
    const request: SearchRequest = {
      kind: "search",
      query: neutral,
      providers: providers.map((name) => providerAccess(search, name)),
      want,
      deadline,
      timeoutMs: search.provider_timeout_ms,
    };
    try {
      return searchAnswerSchema.parse(await remote.ask(HARVEST_QUEUE, request, search.deadline_ms + WAY_MS)).runs;
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof z.ZodError)) throw error;
      log.error("the providers gave no answer", { error });
      const late = error instanceof ApiError && error.code === "REMOTE_TIMEOUT";
      const reason = late ? "timeout" : "failed on our side: the log has the details";
      return providers.map((provider) => failedRun(provider, reason));
    }
  };

  const askOwn = async (): Promise<ProviderRun[]> => {
    if (!names.includes(OWN_PROVIDER)) return [];
    const started = clock.now();
    try {
      const found = await within(search.deadline_ms, clock, () => searchOwn(query, want));
      if (found === undefined) return [failedRun(OWN_PROVIDER, "timeout")];
      const latencyMs = Math.max(0, clock.now() - started);
      return [{ ...failedRun(OWN_PROVIDER, ""), ...found, latencyMs, requests: 1 }];
    } catch (error) {
      log.error("this system's own index did not answer", { error });
      return [failedRun(OWN_PROVIDER, "not available")];
    }
  };

  const [theirs, own] = await Promise.all([askRemote(), askOwn()]);
  const all = [...theirs, ...own];
  return names.flatMap((name) => all.filter(({ provider }) => provider === name));
}

/** @throws ApiError 400 for what does not fit the schema */
function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidQuery || error instanceof LeftoverPlaceholder || error instanceof QueryTooLong) {
      throw new ApiError(400, "invalid schema", {
        code: "INVALID_SCHEMA",
        details: { text: error.message },
        cause: error,
      });
    }
    throw error;
  }
}
