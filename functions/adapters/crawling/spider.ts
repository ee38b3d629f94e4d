/** What the spider's family of routes has in common: its limits, how it checks seeds, and how it reports a crawl. */
import { z } from "zod";
import { inspectUrl, type UrlInspector } from "../../../shared/access/url-inspection.ts";
import type { CrawlState } from "../../../shared/crawl/results/crawl-state.ts";
import { hostWaitSchema } from "../../../shared/crawl/tasks/task-note.ts";
import { ApiError } from "../../../shared/platform/errors.ts";
import { hostOf } from "./checked-url.ts";

export const MAX_SEEDS = 10_000;
export const RESULT_MODES = ["stats", "urls", "pages", "stream", "store"] as const;

/** Seconds that a response waits for its crawl where the request says nothing. */
export const DEFAULT_RESPONSE_TIMEOUT_S = 30;
/** API Gateway ends a connection after five minutes without a byte. */
export const MAX_RESPONSE_TIMEOUT_S = 280;

export const refusedSeedSchema = z.object({
  /** Where it stands in the request, e.g. `seed_urls[3]`; the URL itself may hold a password. */
  path: z.string(),
  host: z.string().optional(),
  code: z.enum(["URL_BLOCKED", "URL_INVALID"]),
  message: z.string(),
});
export type RefusedSeed = z.infer<typeof refusedSeedSchema>;

export interface CheckedSeeds {
  accepted: string[];
  /** The crawl goes on without them. */
  refused: RefusedSeed[];
}

/**
 * @param field of the request, for the paths of what is refused
 * @throws ApiError 403 URL_BLOCKED where all are blocked, 400 URL_INVALID where none is left otherwise; each with its
 * reason
 */
export function checkSeeds(inspector: UrlInspector, seeds: readonly string[], field = "seed_urls"): CheckedSeeds {
  const accepted: string[] = [];
  const refused: RefusedSeed[] = [];
  for (const [index, seed] of seeds.entries()) {
    const checked = inspectUrl(inspector, seed);
    if (checked instanceof URL) accepted.push(checked.href);
    else {
      const host = hostOf(seed);
      const path = `${field}[${index}]`;
      refused.push({ path, ...(host !== undefined && { host }), code: checked.code, message: checked.message });
    }
  }
  if (accepted.length === 0) throw noneLeft(refused);
  return { accepted, refused };
}

function noneLeft(refused: readonly RefusedSeed[]): ApiError {
  const blocked = refused.every(({ code }) => code === "URL_BLOCKED");
  const first = `${refused[0]?.path}: ${refused[0]?.message}`;
  const message = refused.length === 1 ? first : `None of the ${refused.length} seeds is fetched; ${first}`;
  return new ApiError(blocked ? 403 : 400, message, {
    code: blocked ? "URL_BLOCKED" : "URL_INVALID",
    details: { refused_seeds: refused },
  });
}

/** There only where seeds were refused; the crawl went on without them. */
export const refusedSeedsField = { refused_seeds: z.array(refusedSeedSchema).optional() };

/** There only where the job failed, or has to wait for hosts. */
export const troubleFields = {
  error: z.string().optional(),
  waits: z.array(hostWaitSchema.extend({ host: z.string() })).optional(),
};

export const troubleOf = ({ error, waits }: Pick<CrawlState, "error" | "waits">) => ({
  ...(error !== null && { error }),
  ...(waits.length > 0 && { waits }),
});

export const streamStatsSchema = z.object({
  pages_crawled: z.int().nonnegative(),
  pages_failed: z.int().nonnegative(),
  duration_seconds: z.number().nonnegative(),
  stop_reason: z.string(),
  ...troubleFields,
  ...refusedSeedsField,
});
export const crawlStatsSchema = streamStatsSchema.extend({ domains: z.array(z.string()) });

export const refusedOf = (seeds: readonly RefusedSeed[]) => (seeds.length === 0 ? {} : { refused_seeds: [...seeds] });

/** Seconds, to three digits. */
export const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

export function streamStats(state: CrawlState, seeds: readonly RefusedSeed[]): z.input<typeof streamStatsSchema> {
  return {
    pages_crawled: state.crawled,
    pages_failed: state.failed,
    duration_seconds: toMilliseconds(state.durationSeconds),
    stop_reason: state.stopReason ?? "completed",
    ...troubleOf(state),
    ...refusedOf(seeds),
  };
}

export function statsResponse(
  state: CrawlState,
  domains: readonly string[],
  seeds: readonly RefusedSeed[],
): z.input<typeof crawlStatsSchema> {
  return { ...streamStats(state, seeds), domains: [...domains] };
}
