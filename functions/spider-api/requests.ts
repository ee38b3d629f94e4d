/** The queries and bodies that the routes of the spider take. */
import { z } from "zod";
import type { Strategy } from "../../shared/crawl/settings/job-settings.ts";
import { urlPatternsSchema } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { numberParameter } from "../adapters/api/numbers.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { bestFirstOptions, bestFirstRule, checkBestFirst } from "../adapters/crawling/best-first.ts";
import { fieldSelection } from "../adapters/crawling/field-selection.ts";
import { cacheOption, jobOptions } from "../adapters/crawling/job-options.ts";
import {
  DEFAULT_RESPONSE_TIMEOUT_S,
  MAX_RESPONSE_TIMEOUT_S,
  MAX_SEEDS,
  RESULT_MODES,
} from "../adapters/crawling/spider.ts";

/** Modes whose response comes once the crawl has ended. */
const RESPONSE_MODES: readonly string[] = ["stats", "urls", "pages"];
const MAX_TIMEOUT_S = 7 * 24 * 3600;

/** As a query writes them. */
const BOOLEANS = { truthy: ["true", "1"], falsy: ["false", "0"] };

export const crawlQuerySchema = z
  .strictObject({
    result_mode: z
      .enum(RESULT_MODES)
      .default("stats")
      .meta({
        description:
          "What is answered. stats, urls and pages wait for the end of the crawl, " +
          `${MAX_RESPONSE_TIMEOUT_S} s at the most: a longer timeout_seconds of the body is refused; ` +
          "stream answers each page as it comes; store answers 202 at once",
      }),
    ...fieldSelection,
    max_pages: numberParameter(
      z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .meta({
          description:
            "With result_mode=pages alone, refused with any other: a crawl of more pages than this is not " +
            "answered, 1000 where left out. What is fetched at the most is max_pages of the body",
        }),
    ),
    detach: z
      .stringbool(BOOLEANS)
      .default(false)
      .meta({
        type: "string",
        enum: [...BOOLEANS.truthy, ...BOOLEANS.falsy],
        default: "false",
        description:
          "Whether the crawl goes on when the client leaves. " +
          "Refused as true with result_mode=store, which goes on in any case",
      }),
  })
  .refine(({ result_mode, max_pages }) => result_mode === "pages" || max_pages === undefined, {
    path: ["max_pages"],
    message: "is for result_mode=pages alone; what is fetched at the most is max_pages of the body",
  })
  .refine(({ result_mode, detach }) => result_mode !== "store" || !detach, {
    path: ["detach"],
    message: "is for who waits or listens: a crawl with result_mode=store goes on in any case",
  });
export type CrawlQuery = z.output<typeof crawlQuerySchema>;

const STRATEGY_NAMES = {
  breadth_first: "bfs",
  bfs: "bfs",
  depth_first: "dfs",
  dfs: "dfs",
  best_first: "best_first",
} as const satisfies Record<string, Strategy>;
type StrategyName = keyof typeof STRATEGY_NAMES;

const DEFAULT_SCORE_THRESHOLD = 0;

export const crawlBodySchema = z
  .strictObject({
    /** The URL guard checks each of them. */
    seed_urls: z.array(z.string().min(1)).min(1).max(MAX_SEEDS),
    /** Links from a seed to the deepest page. */
    max_depth: z.int().min(0).max(1_000).default(2),
    /** A hard limit of pages that are fetched. */
    max_pages: z.int().min(1).max(1_000_000).default(100),
    strategy: z.enum(Object.keys(STRATEGY_NAMES) as [StrategyName, ...StrategyName[]]).default("breadth_first"),
    ...bestFirstOptions(DEFAULT_SCORE_THRESHOLD),
    timeout_seconds: orNull(z.number().positive().max(MAX_TIMEOUT_S)),
    /** Requests under way at once. */
    concurrency: orNull(z.int().min(1).max(64)),
    respect_robots: orNull(z.boolean()),
    /** Only the registrable domains of the seeds. */
    same_domain_only: z.boolean().default(true),
    include_patterns: urlPatternsSchema,
    exclude_patterns: urlPatternsSchema,
    cache: cacheOption("bypass"),
    ...jobOptions,
  })
  .superRefine(checkBestFirst(DEFAULT_SCORE_THRESHOLD))
  .meta(bestFirstRule(DEFAULT_SCORE_THRESHOLD));
export type CrawlBody = z.output<typeof crawlBodySchema>;

export const strategyOf = (name: StrategyName): Strategy => STRATEGY_NAMES[name];

/**
 * Seconds, or null for no limit.
 * @throws RangeError with what to do where a response cannot wait for so long
 */
export function timeoutOf({ result_mode }: CrawlQuery, { timeout_seconds }: CrawlBody): number | null {
  if (!RESPONSE_MODES.includes(result_mode)) return timeout_seconds ?? null;
  const timeout = timeout_seconds ?? DEFAULT_RESPONSE_TIMEOUT_S;
  if (timeout <= MAX_RESPONSE_TIMEOUT_S) return timeout;
  throw new RangeError(
    `result_mode=${result_mode} waits ${MAX_RESPONSE_TIMEOUT_S} s at the most: ` +
      "use result_mode=stream or result_mode=store for longer crawls",
  );
}

/** As `result_seq` is stored. */
const MAX_CURSOR = 2 ** 31 - 1;
const cursor = numberParameter(z.int().min(0).max(MAX_CURSOR));

export const followQuerySchema = z.strictObject({ cursor: cursor.optional(), ...fieldSelection });

/** A cursor as a client writes it, e.g. in `Last-Event-ID`; undefined where it is none. */
export function parseCursor(text: string): number | undefined {
  return /^\d+$/.test(text) ? cursor.safeParse(text).data : undefined;
}
