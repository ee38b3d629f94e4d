/** Domains as the API shows them. */
import { z } from "zod";
import type { DomainCounts } from "../../shared/crawl/administration/domain-counts.ts";
import type { DomainSettings } from "../../shared/crawl/administration/domain-settings.ts";
import { circuitOf, circuitOpenUntil, type HostState } from "../../shared/crawl/politeness/host-state.ts";
import type { RobotsRules } from "../../shared/crawl/robots/rules.ts";

const time = z.iso.datetime();
const count = z.int().nonnegative();

/** Where a list of domains goes on: the last one seen. */
export const domainPosition = z.string().regex(/^[\x21-\x7e]+$/);

export const domainSchema = z.object({
  /** Host, with its port unless that is 80 or 443. */
  domain: z.string(),
  /** null, here and below: as the deployment is set. */
  rate_limit_rps: z.number().nullable(),
  circuit_breaker_threshold: count.nullable(),
  circuit_breaker_timeout_s: count.nullable(),
  is_blocked: z.boolean(),
  blocked_reason: z.string().nullable(),
  /** null where the domain has no settings of its own. */
  updated_at: time.nullable(),
  /** Whether what is being fetched is known to see these settings. */
  in_force: z.boolean(),
});

export function domainJson({ updated_at, ...settings }: DomainSettings): z.input<typeof domainSchema> {
  return { ...settings, updated_at: updated_at?.toISOString() ?? null };
}

/** What became of URLs, over all jobs. */
export const urlCountsSchema = z.object({
  crawled: count,
  failed: count,
  skipped: count,
  /** Tries that were followed by another. */
  retried: count,
  /** Of `crawled`: taken from the crawl cache. */
  reused: count,
  payload_bytes: count,
  last_capture_at: time,
});

export function urlCountsJson({
  domain: _,
  last_capture_at,
  ...counts
}: DomainCounts): z.input<typeof urlCountsSchema> {
  return { ...counts, last_capture_at: last_capture_at.toISOString() };
}

export const domainDetailSchema = domainSchema.extend({
  circuit: z.object({
    state: z.enum(["closed", "open", "half_open"]),
    /** In a row. */
    failures: count,
    /** Since the host last answered. */
    openings: count,
    opened_at: time.nullable(),
    down_since: time.nullable(),
    /** When one request may try again. */
    until: time.nullable(),
    threshold: count,
    timeout_s: z.number(),
  }),
  /** The next request leaves no sooner; null: at once. */
  next_slot_at: time.nullable(),
  /** The host asked to be left alone until then. */
  hold_until: time.nullable(),
  /** null where no URL of the domain was ever tried. */
  urls: urlCountsSchema.nullable(),
  /** What its robots.txt says to this crawler, as it was last read; empty where none was within a day. */
  robots: z.array(
    z.object({
      /** Each has its own: `https://` and `http://`. */
      origin: z.string(),
      /** Of all rules, the first 200, in the order in which they are asked: the first that matches decides. */
      rules: z.array(z.object({ allow: z.boolean(), pattern: z.string() })),
      total_rules: count,
      crawl_delay_s: z.number().nullable(),
      /** The first 50 of them, as the file has them. */
      sitemaps: z.array(z.string()),
    }),
  ),
});

const MOST_RULES = 200;
const MOST_SITEMAPS = 50;

export function robotsJson(
  origin: string,
  { rules, crawlDelayMs, sitemaps }: RobotsRules,
): z.input<typeof domainDetailSchema>["robots"][number] {
  return {
    origin,
    rules: rules.slice(0, MOST_RULES),
    total_rules: rules.length,
    crawl_delay_s: crawlDelayMs === null ? null : crawlDelayMs / 1000,
    sitemaps: sitemaps.slice(0, MOST_SITEMAPS),
  };
}

export function hostJson(
  state: HostState,
  now: number,
): Pick<z.input<typeof domainDetailSchema>, "circuit" | "next_slot_at" | "hold_until"> {
  const circuit = circuitOf(state, now);
  const later = (at: number): string | null => (at > now ? new Date(at).toISOString() : null);
  const since = (at: number): string | null => (at === 0 ? null : new Date(at).toISOString());
  return {
    circuit: {
      state: circuit === "half-open" ? "half_open" : circuit,
      failures: state.failures,
      openings: state.openings,
      opened_at: since(state.opened_at),
      down_since: since(state.down_since),
      until: circuit === "closed" ? null : new Date(circuitOpenUntil(state)).toISOString(),
      threshold: state.circuit_threshold,
      timeout_s: state.circuit_timeout_s,
    },
    next_slot_at: later(Math.ceil(state.next_at)),
    hold_until: later(Math.ceil(state.hold_until)),
  };
}
