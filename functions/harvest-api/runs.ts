/** The routes that make, show and list search runs, in the shapes of the harvester's reference. */
import { z } from "zod";
import { finalQueries, type HarvestOutcome, harvest } from "../../shared/harvest/run.ts";
import {
  listRuns,
  type MadeRun,
  type ProcessedUrl,
  readMadeRun,
  readProcessed,
  readRun,
  type StoredRun,
} from "../../shared/harvest/store.ts";
import { recordFailure, recordRun } from "../../shared/harvest/telemetry.ts";
import { isInCalendar } from "../../shared/platform/calendar.ts";
import { ApiError } from "../../shared/platform/errors.ts";
import { cursorPage, cursorParameter } from "../adapters/api/cursor.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { defineRoute } from "../adapters/api/route.ts";
import { OUT_OF_CALENDAR } from "../adapters/api/times.ts";
import type { HarvestApi } from "./dependencies.ts";

/** Longest question, in characters. */
const MAX_QUESTION = 2_000;

const requestSchema = z.strictObject({
  query: z.string().trim().min(1).max(MAX_QUESTION),
  options: z
    .strictObject({
      lang: z
        .string()
        .regex(/^[a-z]{2}$/, "not a two-letter language code")
        .optional(),
      maxResults: z.int().min(1).max(100).optional(),
    })
    .default({}),
});

const urlSchema = z.object({ url: z.string(), providers: z.array(z.string()), confidence: z.int() });

const createdSchema = z.object({
  run_id: z.int(),
  /** With the placeholders that the clock fills in at each run. */
  rewritten_template: z.string(),
  /** By provider: what it was asked. */
  final_queries: z.record(z.string(), z.string()),
  /** Those that answered. */
  providers_used: z.array(z.string()),
  /** Most providers first, then the best rank. */
  urls: z.array(urlSchema),
  meta: z.object({
    /** URLs by provider. */
    counts: z.record(z.string(), z.int()),
    total_unique: z.int(),
    latency_ms: z.record(z.string(), z.int()),
    /** By provider: why it gave nothing, or not all. */
    errors: z.record(z.string(), z.string()),
    /** The question was rewritten before. */
    template_cached: z.boolean(),
  }),
});

export const createRun = defineRoute(
  {
    method: "POST",
    path: "/search-runs",
    scope: "write",
    idempotent: true,
    summary:
      "Harvest URLs: the question is rewritten, all search providers are asked at once, what they find is merged",
    body: requestSchema,
    status: 201,
    response: createdSchema,
  },
  async ({ body, caller, log, reservedId }, dependencies: HarvestApi) => {
    const { sql } = dependencies;
    const requestId = reservedId("run");
    const made = requestId === undefined ? undefined : await readMadeRun(sql, requestId);
    if (made !== undefined) return madeJson(made, await readProcessed(sql, made.run_id));
    const started = dependencies.clock.now();
    try {
      const outcome = await harvest({ ...dependencies, log }, { ...body, apiKeyId: caller.keyId, requestId });
      recordRun(log, outcome, dependencies.clock.now(), started);
      return createdJson(outcome);
    } catch (error) {
      recordFailure(log, error, dependencies.clock.now());
      throw error;
    }
  },
);

function createdJson({ runId, template, cached, runs, merged }: HarvestOutcome): z.input<typeof createdSchema> {
  const answered = runs.filter(({ error, urls }) => error === null || urls.length > 0);
  const failed = runs.filter(({ error }) => error !== null);
  return {
    run_id: runId,
    rewritten_template: template.text,
    final_queries: finalQueries(runs),
    providers_used: answered.map(({ provider }) => provider),
    urls: merged.map(({ url, providers, confidence }) => ({ url, providers, confidence })),
    meta: {
      counts: Object.fromEntries(answered.map(({ provider, urls }) => [provider, urls.length])),
      total_unique: merged.length,
      latency_ms: Object.fromEntries(runs.map(({ provider, latencyMs }) => [provider, Math.round(latencyMs)])),
      errors: Object.fromEntries(failed.map(({ provider, error }) => [provider, error ?? ""])),
      template_cached: cached,
    },
  };
}

/** As it was answered, of a run whose request is sent again. */
const madeJson = (run: MadeRun, urls: ProcessedUrl[]): z.input<typeof createdSchema> => {
  const answered = run.providers.filter(({ error, urls: found }) => error === null || found > 0);
  const failed = run.providers.filter(({ error }) => error !== null);
  return {
    run_id: run.run_id,
    rewritten_template: run.rewritten_template,
    final_queries: run.final_queries,
    providers_used: run.providers_used,
    urls,
    meta: {
      counts: Object.fromEntries(answered.map(({ provider, urls: found }) => [provider, found])),
      total_unique: urls.length,
      latency_ms: Object.fromEntries(run.providers.map(({ provider, latencyMs }) => [provider, Math.round(latencyMs)])),
      errors: Object.fromEntries(failed.map(({ provider, error }) => [provider, error ?? ""])),
      template_cached: run.template_cached,
    },
  };
};

const runSchema = z.object({
  run_id: z.int(),
  query: z.string(),
  rewritten_template: z.string(),
  timestamp: z.iso.datetime(),
  providers_used: z.array(z.string()),
});

/** Of the ids that PostgreSQL's `int` has. */
const MAX_RUN_ID = 2 ** 31 - 1;
export const runParameters = z.strictObject({
  run_id: z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .refine((id) => id <= MAX_RUN_ID),
});

export const showRun = defineRoute(
  {
    method: "GET",
    path: "/search-runs/{run_id}",
    scope: "read",
    summary: "A run and its merged list",
    params: runParameters,
    response: runSchema.extend({ urls: z.array(urlSchema) }),
  },
  async ({ params: { run_id } }, { sql }: HarvestApi) => {
    const { run, urls } = await requireRun({ sql }, run_id);
    return { ...runJson(run), urls };
  },
);

/** @throws ApiError 404 */
export async function requireRun(
  { sql }: Pick<HarvestApi, "sql">,
  id: number,
): Promise<{ run: StoredRun; urls: ProcessedUrl[] }> {
  const run = await readRun(sql, id);
  if (run === undefined)
    throw new ApiError(404, "not found", { code: "NOT_FOUND", details: { text: `there is no run ${id}` } });
  return { run, urls: await readProcessed(sql, id) };
}

const DAY_MS = 24 * 3600 * 1000;

/** @param ofDay ms that are added to a day's beginning */
const moment = (ofDay: number) => {
  const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
  const day = z.iso.date().transform((text) => new Date(Date.parse(text) + ofDay));
  const error = "neither a day (2026-01-31) nor a time with its zone (2026-01-31T12:00:00Z; in a URL + is written %2B)";
  return z.union([time, day], { error }).refine((date) => isInCalendar(date.getTime()), OUT_OF_CALENDAR);
};

export const listSearchRuns = defineRoute(
  {
    method: "GET",
    path: "/search-runs",
    scope: "read",
    summary: "Runs, newest first, by their question and their time",
    query: z
      .strictObject({
        query: z.string().trim().min(1).max(MAX_QUESTION).optional(),
        /** ISO 8601, a day or a time; both ends count, and a day counts as a whole. */
        from: moment(0).optional(),
        to: moment(DAY_MS - 1).optional(),
        limit: numberParameter(z.int().min(1).max(500).default(50)),
        cursor: cursorParameter(
          z
            .string()
            .regex(/^[1-9]\d{0,9}$/)
            .refine((id) => Number(id) <= MAX_RUN_ID),
        ),
      })
      .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
        path: ["from"],
        error: "is later than to",
      }),
    response: z.object({ items: z.array(runSchema), next_cursor: z.string().nullable(), has_more: z.boolean() }),
  },
  async ({ query: { query, from, to, limit, cursor } }, { sql }: HarvestApi) => {
    const after = cursor === undefined ? undefined : Number(cursor);
    const found = await listRuns(sql, { query, from, to, limit: limit + 1, after });
    return cursorPage(found.map(runJson), limit, ({ run_id }) => String(run_id));
  },
);

const runJson = ({ timestamp, ...run }: StoredRun): z.input<typeof runSchema> => ({
  ...run,
  timestamp: timestamp.toISOString(),
});
