/** `keys create|list|limit|usage|revoke`. */
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";
import { collectionId } from "./documents.ts";

interface KeyAnswer {
  id: string;
  prefix: string;
  name: string;
  scopes: string[];
  collections: string[] | null;
  rate_limit_rpm: number;
  jobs_per_day: number | null;
  jobs_today: number;
  pages_per_day: number | null;
  pages_today: number;
  max_stored_bytes: number | null;
  stored_bytes: number;
  expires_at: string | null;
  is_active: boolean;
}

export interface NewKeyOptions {
  scope?: string[];
  collection?: string[];
  rpm?: number;
  jobsPerDay?: number;
  pagesPerDay?: number;
  maxStoredBytes?: number;
  expires?: string;
  json?: true;
}

export interface KeyLimits {
  collection?: string[];
  unlimited?: true;
  /** 0: any number. */
  jobsPerDay?: number;
  pagesPerDay?: number;
  maxStoredBytes?: number;
  json?: true;
}

export async function createKey(
  api: ApiClient,
  terminal: Terminal,
  name: string,
  { scope, collection, rpm, jobsPerDay, pagesPerDay, maxStoredBytes, expires, json }: NewKeyOptions,
): Promise<number> {
  const created = await api<KeyAnswer & { key: string }>("POST", "/api/v1/api-keys", {
    name,
    ...(scope && { scopes: scope }),
    ...(collection && { collections: await idsOf(api, collection) }),
    ...(rpm !== undefined && { rate_limit_rpm: rpm }),
    ...(jobsPerDay !== undefined && { jobs_per_day: jobsPerDay }),
    ...(pagesPerDay !== undefined && { pages_per_day: pagesPerDay }),
    ...(maxStoredBytes !== undefined && { max_stored_bytes: maxStoredBytes }),
    ...(expires !== undefined && { expires_at: expires }),
  });
  if (json) {
    terminal.line(JSON.stringify(created, null, 2));
  } else {
    terminal.line(created.key);
    terminal.line(terminal.dim("This is the only time that the key is shown."));
    terminal.line(`${created.id}: ${created.scopes.join(", ")}, ${created.rate_limit_rpm} requests a minute`);
    if (created.collections) terminal.line(`Limited to the collections ${created.collections.join(", ")}`);
  }
  return EXIT.done;
}

const limitOf = ({ collections }: KeyAnswer): string =>
  collections === null
    ? ""
    : `  (${collections.length === 1 ? "one collection" : `${collections.length} collections`})`;

function quotaOf(key: KeyAnswer): string {
  const quotas = [
    key.jobs_per_day === null ? [] : `${key.jobs_today} of ${key.jobs_per_day} jobs today`,
    key.pages_per_day === null ? [] : `${key.pages_today} of ${key.pages_per_day} pages today`,
    key.max_stored_bytes === null ? [] : `${key.stored_bytes} of ${key.max_stored_bytes} bytes stored`,
  ].flat();
  return quotas.length === 0 ? "" : `  (${quotas.join(", ")})`;
}

export async function listKeys(api: ApiClient, terminal: Terminal, { json }: { json?: true }): Promise<number> {
  const keys: KeyAnswer[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<KeyAnswer> = await api("GET", `/api/v1/api-keys?limit=200${cursor ? `&cursor=${cursor}` : ""}`);
    keys.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  if (json) {
    terminal.line(JSON.stringify(keys, null, 2));
    return EXIT.done;
  }
  for (const key of keys) {
    const expired = key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
    const state = key.is_active ? (expired ? "expired" : "active") : "revoked";
    const scopes = key.scopes.join(",");
    const limits = limitOf(key) + quotaOf(key);
    const line = `${key.id}  ${state.padEnd(7)}  ${key.prefix}…  ${scopes}  ${harmless(key.name)}${limits}`;
    terminal.row(line);
  }
  return EXIT.done;
}

export async function revokeKey(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { json }: { json?: true },
): Promise<number> {
  const answer = await api<null>("DELETE", `/api/v1/api-keys/${encodeURIComponent(id)}`);
  terminal.line(json ? JSON.stringify(answer) : `Key ${id} is revoked.`);
  return EXIT.done;
}

const idsOf = async (api: ApiClient, collections: readonly string[]): Promise<string[]> =>
  await Promise.all(collections.map(async (collection) => await collectionId(api, collection, "existing")));

/** Holds a key to collections from its next request on, to none where `unlimited` is wanted, and sets its quotas. */
export async function limitKey(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { collection, unlimited, jobsPerDay, pagesPerDay, maxStoredBytes, json }: KeyLimits,
): Promise<number> {
  const quotas = { jobs_per_day: jobsPerDay, pages_per_day: pagesPerDay, max_stored_bytes: maxStoredBytes };
  const given = Object.entries(quotas).filter(([, quota]) => quota !== undefined);
  const both = collection !== undefined && unlimited !== undefined;
  if (both || (collection === undefined && unlimited === undefined && given.length === 0)) {
    throw new CliError(
      "Name the key's collections with --collection, or say --unlimited; or a quota, e.g. --jobs-per-day",
      EXIT.usage,
    );
  }
  const limited = await api<KeyAnswer>("PUT", `/api/v1/api-keys/${encodeURIComponent(id)}`, {
    ...((collection ?? unlimited) !== undefined && { collections: collection ? await idsOf(api, collection) : null }),
    ...Object.fromEntries(given.map(([name, quota]) => [name, quota === 0 ? null : quota])),
  });
  if (json) terminal.line(JSON.stringify(limited, null, 2));
  else terminal.line(`Key ${id} reaches ${limited.collections?.join(", ") ?? "everything that its scopes let it"}.`);
  return EXIT.done;
}

interface UsageAnswer {
  limits: Record<"jobs_per_day" | "pages_per_day" | "max_stored_bytes", number | null> | null;
  left: Record<"jobs" | "pages" | "stored_bytes", number | null> | null;
  days: (Record<"jobs" | "pages" | "fetched_bytes" | "documents" | "stored_bytes", number> & { date: string })[];
}

export interface UsageOptions {
  from?: string;
  to?: string;
  json?: true;
}

/** @param id undefined: of the key that asks */
export async function showUsage(
  api: ApiClient,
  terminal: Terminal,
  id: string | undefined,
  { from, to, json }: UsageOptions,
): Promise<number> {
  const query = new URLSearchParams();
  for (const [name, text] of Object.entries({ key_id: id, from, to })) if (text !== undefined) query.set(name, text);
  const usage = await api<UsageAnswer>("GET", `/api/v1/usage${query.size > 0 ? `?${query}` : ""}`);
  if (json) {
    terminal.line(JSON.stringify(usage, null, 2));
    return EXIT.done;
  }
  for (const { date, jobs, pages, fetched_bytes, documents, stored_bytes } of usage.days) {
    const used = `${jobs} jobs, ${pages} pages (${fetched_bytes} bytes), ${documents} documents`;
    terminal.row(`${date}  ${used}; ${stored_bytes} bytes stored`);
  }
  const { limits, left } = usage;
  if (limits?.jobs_per_day != null) terminal.line(`Left today: ${left?.jobs} of ${limits.jobs_per_day} jobs`);
  if (limits?.pages_per_day != null) terminal.line(`Left today: ${left?.pages} of ${limits.pages_per_day} pages`);
  if (limits?.max_stored_bytes != null) {
    terminal.line(`Left to store: ${left?.stored_bytes} of ${limits.max_stored_bytes} bytes`);
  }
  return EXIT.done;
}
