/**
 * Crawl configs: settings under a name. A job keeps a copy of those it was started with, so that no later change
 * concerns it.
 */
import postgres from "postgres";
import type { Queryable } from "../../platform/database/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { uuidv7 } from "../../platform/ids.ts";
import { type CrawlConfig, completeConfig } from "../settings/crawl-config.ts";
import { effectiveConfig } from "./effective-config.ts";

export interface StoredConfig {
  id: string;
  name: string;
  /** With the defaults of what it leaves open. */
  settings: CrawlConfig;
  created_at: Date;
  updated_at: Date;
}

/** Only what differs from the defaults by intention: a default that changes later concerns the config too. */
export interface ConfigInput {
  name: string;
  settings: Partial<CrawlConfig>;
}

type Row = Omit<StoredConfig, "settings"> & { settings: Partial<CrawlConfig> };

/** @throws ApiError 409 CONFLICT where the name is taken, 400 where the settings do not go together */
export async function createConfig(sql: Queryable, { name, settings }: ConfigInput): Promise<StoredConfig> {
  await effectiveConfig(sql, undefined, settings);
  const [row] = await named(
    name,
    sql<Row[]>`
      insert into crawl_configs (id, name, settings) values (${uuidv7()}, ${name}, ${JSON.stringify(settings)}::text::jsonb)
      returning id, name, settings, created_at, updated_at`,
  );
  return shown(row as Row);
}

/**
 * Replaces name and settings.
 * @throws as `createConfig`, and ApiError 404 NOT_FOUND
 */
export async function replaceConfig(
  sql: Queryable,
  id: string,
  { name, settings }: ConfigInput,
): Promise<StoredConfig> {
  await effectiveConfig(sql, undefined, settings);
  const [row] = await named(
    name,
    sql<Row[]>`
      update crawl_configs set name = ${name}, settings = ${JSON.stringify(settings)}::text::jsonb, updated_at = now()
      where id = ${id} returning id, name, settings, created_at, updated_at`,
  );
  if (row === undefined) throw missing(id);
  return shown(row);
}

/** @throws ApiError 404 NOT_FOUND */
export async function readConfig(sql: Queryable, id: string): Promise<StoredConfig> {
  const [row] = await sql<Row[]>`
    select id, name, settings, created_at, updated_at from crawl_configs where id = ${id}`;
  if (row === undefined) throw missing(id);
  return shown(row);
}

/**
 * Newest first.
 * @param after id of the last config seen
 */
export async function listConfigs(
  sql: Queryable,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<StoredConfig[]> {
  const rows = await sql<Row[]>`
    select id, name, settings, created_at, updated_at from crawl_configs
    where ${after === undefined ? sql`true` : sql`id < ${after}`}
    order by id desc limit ${limit}`;
  return rows.map(shown);
}

/** @throws ApiError 404 NOT_FOUND */
export async function deleteConfig(sql: Queryable, id: string): Promise<void> {
  const { count } = await sql`delete from crawl_configs where id = ${id}`;
  if (count === 0) throw missing(id);
}

const missing = (id: string) => new ApiError(404, `There is no crawl config ${id}`, { code: "NOT_FOUND" });

/**
 * As it is stored: a proxy that is gone or switched off meanwhile fails the crawls that want it, not the reading of the
 * config.
 */
function shown(row: Row): StoredConfig {
  return { ...row, settings: completeConfig(row.settings) };
}

const UNIQUE_VIOLATION = "23505";

async function named<T>(name: string, query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION)) throw error;
    throw new ApiError(409, `name: there is a crawl config ${JSON.stringify(name)} already`, {
      code: "CONFLICT",
      details: { name },
      cause: error,
    });
  }
}
