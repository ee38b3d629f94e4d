/** Monitored sources as the API takes and shows them. */
import { z } from "zod";
import type { Caller } from "../../shared/access/authorize.ts";
import { crawlConfigOverridesSchema } from "../../shared/crawl/administration/effective-config.ts";
import { LIST_TYPES } from "../../shared/crawl/discovery/list-task.ts";
import { CronError, parseCron } from "../../shared/crawl/schedules/cron.ts";
import { toEventBridge } from "../../shared/crawl/schedules/eventbridge-cron.ts";
import { isTimeZone, nextFirings } from "../../shared/crawl/schedules/firings.ts";
import { nextInterval } from "../../shared/crawl/schedules/revisit.ts";
import { type CrawlConfig, completeConfig } from "../../shared/crawl/settings/crawl-config.ts";
import { PRIORITIES } from "../../shared/crawl/settings/job-settings.ts";
import { withoutSecrets } from "../../shared/crawl/settings/secrets.ts";
import { dueAt } from "../../shared/crawl/sources/revisit-source.ts";
import { type CrawlSource, SOURCE_TYPES, type SourceInput } from "../../shared/crawl/sources/sources.ts";
import { urlPatternsSchema } from "../../shared/crawl/urls/scope-of-seeds.ts";
import { orNull } from "../adapters/api/or-null.ts";
import { jobOptions } from "../adapters/crawling/job-options.ts";

const SCOPES = ["host", "domain", "prefix"] as const;

/** Of a site alone. */
const siteOptions = {
  scope: z.enum(SCOPES).default("host"),
  include: urlPatternsSchema,
  exclude: urlPatternsSchema,
  max_depth: z.int().min(0).max(1_000).default(2),
  max_pages: z.int().min(1).max(1_000_000).default(100),
};

/** Of a feed or a sitemap alone. */
const listOptions = {
  include: urlPatternsSchema,
  exclude: urlPatternsSchema,
  /** In one run; what is left is crawled by the next one. */
  max_entries: z.int().min(1).max(10_000).default(100),
};

const isList = (type: string): boolean => type === "feed" || type === "sitemap";

const HOURS = z.int().min(1).max(8_760);
const revisitSchema = z
  .strictObject({
    /** Between two visits, where the latest ones found changes. */
    shortest_hours: HOURS.default(1),
    /** Where they found none. */
    longest_hours: HOURS,
  })
  .refine(({ shortest_hours, longest_hours }) => shortest_hours <= longest_hours, {
    path: ["longest_hours"],
    message: "must not be below shortest_hours",
  });

/** As Vixie cron reads it, and EventBridge Scheduler can be told. */
const cron = z
  .string()
  .max(200)
  .superRefine((text, context) => {
    try {
      toEventBridge(parseCron(text));
    } catch (error) {
      if (!(error instanceof CronError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });

export const sourceRequestSchema = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    type: z.enum(SOURCE_TYPES).default("site"),
    /** The page, where the crawl of the site begins, or the feed or sitemap; the URL guard checks it. */
    url: z.string().min(1),
    /** Five fields; without it the source is crawled only when somebody asks. */
    schedule_cron: orNull(cron),
    time_zone: z.string().max(100).refine(isTimeZone, "is no time zone of the IANA database").default("UTC"),
    /** Whether its schedule fires. */
    is_active: z.boolean().default(true),
    /** More often where its pages change, and less where they do not, as far as the schedule lets it. */
    revisit: orNull(revisitSchema),
    site: orNull(z.strictObject(siteOptions)),
    list: orNull(z.strictObject(listOptions)),
    ...jobOptions,
  })
  .superRefine(({ schedule_cron, revisit }, context) => {
    if (revisit === undefined || schedule_cron !== undefined) return;
    const message = "needs a schedule_cron, whose times it chooses from, as in 0 * * * *";
    context.addIssue({ code: "custom", path: ["revisit"], message });
  })
  .superRefine(({ type, site }, context) => {
    if (type === "site" || site === undefined) return;
    context.addIssue({ code: "custom", path: ["site"], message: 'is for the type "site" alone: leave it out' });
  })
  .superRefine(({ type, list }, context) => {
    if (isList(type) || list === undefined) return;
    const message = 'is for the types "feed" and "sitemap" alone: leave it out';
    context.addIssue({ code: "custom", path: ["list"], message });
  })
  .meta({
    anyOf: [
      { properties: { type: { enum: ["site"] }, list: { type: "null" } } },
      {
        required: ["type"],
        properties: { type: { enum: ["page"] }, site: { type: "null" }, list: { type: "null" } },
      },
      { required: ["type"], properties: { type: { enum: [...LIST_TYPES] }, site: { type: "null" } } },
    ],
  });
export type SourceRequest = z.output<typeof sourceRequestSchema>;

/** @param url as the URL guard read it */
export function inputOf({ site, list, ...body }: SourceRequest, url: string): SourceInput {
  const { name, type, schedule_cron, time_zone, is_active, revisit } = body;
  const { config_id, config = {}, collection_id, tags, priority } = body;
  const isSite = type === "site";
  return {
    name,
    type,
    url,
    schedule_cron: schedule_cron?.trim() ?? null,
    time_zone,
    is_active,
    revisit: revisit ?? null,
    options: {
      site: isSite ? (site ?? z.object(siteOptions).parse({})) : null,
      list: isList(type) ? (list ?? z.object(listOptions).parse({})) : null,
      config_id: config_id ?? null,
      config,
      collection_id: collection_id ?? null,
      tags,
      priority,
    },
  };
}

export const sourceSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  type: z.enum(SOURCE_TYPES),
  url: z.string(),
  schedule_cron: z.string().nullable(),
  time_zone: z.string(),
  is_active: z.boolean(),
  revisit: z.object({ shortest_hours: z.int(), longest_hours: z.int() }).nullable(),
  /** What `revisit` has come to; null where it is null. */
  revisit_hours: z.number().nullable(),
  site: z
    .object({
      scope: z.enum(SCOPES),
      include: z.array(z.string()),
      exclude: z.array(z.string()),
      max_depth: z.int(),
      max_pages: z.int(),
    })
    .nullable(),
  list: z.object({ include: z.array(z.string()), exclude: z.array(z.string()), max_entries: z.int() }).nullable(),
  config_id: z.uuid().nullable(),
  config: crawlConfigOverridesSchema,
  collection_id: z.uuid().nullable(),
  tags: z.array(z.string()),
  priority: z.enum(PRIORITIES),
  /** When the latest job was begun for it. */
  last_crawled_at: z.iso.datetime().nullable(),
  /** Why its schedule's latest firing began no job. */
  last_error: z.string().nullable(),
  /** null while it is paused, or has no schedule. */
  next_run_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** Headers of its config may hold credentials: see `configJson`. */
export function sourceJson(
  source: CrawlSource,
  { scopes }: Pick<Caller, "scopes">,
  now: number,
): z.input<typeof sourceSchema> {
  const { id, name, type, url, schedule_cron, time_zone, is_active, revisit, last_error, options } = source;
  const hides = !scopes.some((scope) => scope !== "read");
  return {
    id,
    name,
    type,
    url,
    schedule_cron,
    time_zone,
    is_active,
    revisit,
    revisit_hours: revisit && nextInterval(revisit, source.revisit_hours, null),
    ...options,
    config: hides ? withSecretsHidden(options.config) : options.config,
    last_crawled_at: source.last_crawled_at?.toISOString() ?? null,
    last_error,
    next_run_at: nextRuns(source, now, 1)[0] ?? null,
    created_at: source.created_at.toISOString(),
    updated_at: source.updated_at.toISOString(),
  };
}

function withSecretsHidden(config: Partial<CrawlConfig>): Partial<CrawlConfig> {
  const hidden = Object.entries(withoutSecrets(completeConfig(config)));
  return Object.fromEntries(hidden.filter(([name]) => Object.hasOwn(config, name)));
}

/** As it stands: a visit that finds a change brings the later ones nearer, and one that does not moves them away. */
export function nextRuns(source: CrawlSource, now: number, count: number): string[] {
  const { schedule_cron, time_zone, is_active, revisit, revisit_hours } = source;
  if (schedule_cron === null || !is_active) return [];
  const cron = parseCron(schedule_cron);
  if (revisit === null) return isoTimes(nextFirings(cron, time_zone, now, count));
  const apartMs = nextInterval(revisit, revisit_hours, null) * HOUR_MS;
  const runs: number[] = [];
  let due = dueAt(source) ?? 0;
  while (runs.length < count) {
    const [run] = nextFirings(cron, time_zone, Math.max(now, due - 1), 1);
    if (run === undefined) break;
    runs.push(run);
    due = run + apartMs;
  }
  return isoTimes(runs);
}

const HOUR_MS = 3_600_000;
const isoTimes = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString());
