/**
 * The crawl settings that a job runs with: the overrides of the request, then those of a stored config, then those of
 * the collection that it fills, then defaults.
 */
import { z } from "zod";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { type CollectionDefaults, withCollectionDefaults } from "../settings/collection-defaults.ts";
import {
  type CrawlConfig,
  completeConfig,
  crawlConfigSchema,
  faultOfSizes,
  OWN_HEADERS,
} from "../settings/crawl-config.ts";
import { requireProxy } from "./proxy-configs.ts";

/** Any of the settings, without defaults: a default must not override what a stored config says. */
export const crawlConfigOverrides: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.entries(crawlConfigSchema.shape).map(([name, schema]) => [
    name,
    (schema instanceof z.ZodDefault ? schema.unwrap() : schema).optional(),
  ]),
);
export const crawlConfigOverridesSchema = z.strictObject(crawlConfigOverrides) as unknown as z.ZodType<
  Partial<CrawlConfig>
>;

/**
 * @param collectionId that the job fills; null or left out: none
 * @throws ApiError 404 NOT_FOUND where there is no config `configId`, no such collection or proxy, 409 PROXY_INACTIVE,
 * 400 VALIDATION_ERROR where the settings do not go together
 */
export async function effectiveConfig(
  sql: Queryable,
  configId: string | undefined,
  overrides: Partial<CrawlConfig>,
  collectionId?: string | null,
): Promise<CrawlConfig> {
  const stored = configId === undefined ? {} : await readStoredConfig(sql, configId);
  const own = Object.keys(overrides.headers ?? {}).find((name) => OWN_HEADERS.test(name));
  if (own !== undefined) {
    throw new ApiError(400, `config: headers (${own}) holds what is the crawler's own to send: leave it out`, {
      code: "VALIDATION_ERROR",
    });
  }
  const defaults = collectionId == null ? {} : await readCollectionDefaults(sql, collectionId);
  const config = completeConfig(withCollectionDefaults({ ...stored, ...overrides }, defaults));
  const fault = faultOfSizes(config);
  if (fault !== undefined) throw new ApiError(400, `config: ${fault}`, { code: "VALIDATION_ERROR" });
  const browserSettings = ["wait_for", "viewport", "mobile", "actions"] as const;
  const idle = browserSettings.find((name) => isBrowserSetting(config[name]));
  if (config.render === "never" && idle !== undefined) {
    throw new ApiError(400, `config: ${idle} is for pages that are opened in a browser: set render to "always"`, {
      code: "VALIDATION_ERROR",
    });
  }
  if (config.proxy_id !== undefined) await requireProxy(sql, config.proxy_id);
  return config;
}

/** Whether the setting asks for anything. */
const isBrowserSetting = (value: CrawlConfig["wait_for" | "viewport" | "mobile" | "actions"]): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;

async function readStoredConfig(sql: Queryable, id: string): Promise<Partial<CrawlConfig>> {
  const [row] = await sql<{ settings: unknown }[]>`select settings from crawl_configs where id = ${id}`;
  if (row === undefined) throw new ApiError(404, `There is no crawl config ${id} (config_id)`, { code: "NOT_FOUND" });
  return crawlConfigOverridesSchema.parse(row.settings);
}

/** @throws ApiError 404 NOT_FOUND */
async function readCollectionDefaults(sql: Queryable, id: string): Promise<CollectionDefaults> {
  const [row] = await sql<{ defaults: CollectionDefaults }[]>`select defaults from collections where id = ${id}`;
  if (row !== undefined) return row.defaults;
  const message = `There is no collection ${id} (collection_id): create it with POST /api/v1/collections`;
  throw new ApiError(404, message, { code: "NOT_FOUND" });
}
