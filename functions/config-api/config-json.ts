/** Crawl configs as the API takes and shows them: the reference has all fields flat beside the name. */
import { z } from "zod";
import type { Caller } from "../../shared/access/authorize.ts";
import type { StoredConfig } from "../../shared/crawl/administration/crawl-configs.ts";
import {
  crawlConfigOverrides,
  crawlConfigOverridesSchema,
} from "../../shared/crawl/administration/effective-config.ts";
import { viewportOf } from "../../shared/crawl/settings/browser-settings.ts";
import {
  type CrawlConfig,
  crawlConfigSchema,
  DEFAULT_PAGE_TIMEOUT_MS,
} from "../../shared/crawl/settings/crawl-config.ts";
import { withoutSecrets } from "../../shared/crawl/settings/secrets.ts";
import type { Config } from "../../shared/platform/config.ts";

/** Fields of the reference that have one value here; others are refused rather than ignored. */
const fixed = {
  max_depth: z.literal(
    0,
    "the depth of a crawl belongs to its request: leave this out, and give max_depth to /api/v1/crawl/deep",
  ),
  extraction_strategy: z.literal("markdown", 'only "markdown": every page is extracted as markdown and as plain text'),
  chunking_strategy: z.literal("sliding_window", 'only "sliding_window"'),
};
type Fixed = keyof typeof fixed;

export const configRequestSchema = z.strictObject({
  /** Unique. */
  name: z.string().trim().min(1).max(100),
  max_depth: fixed.max_depth.optional(),
  extraction_strategy: fixed.extraction_strategy.optional(),
  chunking_strategy: fixed.chunking_strategy.optional(),
  ...crawlConfigOverrides,
});

/** The settings among the fields of a request. */
export function settingsOf(body: z.output<typeof configRequestSchema>): Partial<CrawlConfig> {
  const settings = Object.entries(body).filter(([name]) => Object.hasOwn(crawlConfigOverrides, name));
  return crawlConfigOverridesSchema.parse(Object.fromEntries(settings));
}

/** Every setting has a value: null where it is not set and none stands for it. */
const effective: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(crawlConfigSchema.shape).map(([name, schema]) => [
    name,
    schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType).nullable() : schema,
  ]),
);
const UNSET = Object.fromEntries(Object.keys(effective).map((name) => [name, null]));

export const configSchema: z.ZodType = z.object({
  id: z.uuid(),
  name: z.string(),
  ...fixed,
  ...effective,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/**
 * Who may write may send the headers to a server of their own, so that hiding them from such a caller would hide
 * nothing; who may only read gets no credential.
 */
export function configJson(
  { id, name, settings, created_at, updated_at }: StoredConfig,
  { scopes }: Pick<Caller, "scopes">,
  { defaultRps }: Pick<Config, "defaultRps">,
): Record<string, unknown> & { id: string } {
  const hides = !scopes.some((scope) => scope !== "read");
  const constant = { max_depth: 0, extraction_strategy: "markdown", chunking_strategy: "sliding_window" } as const;
  return {
    id,
    name,
    ...(constant satisfies Record<Fixed, unknown>),
    ...UNSET,
    rate_limit_rps: defaultRps,
    page_timeout_ms: DEFAULT_PAGE_TIMEOUT_MS,
    viewport: viewportOf(settings),
    ...(hides ? withoutSecrets(settings) : settings),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
