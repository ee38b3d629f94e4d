/** `keys create|list|limit|revoke`. */
import type { ApiClient } from "../api-client.ts";
import { CliError, EXIT } from "../exit.ts";
import type { Page } from "../jobs-api.ts";
import { harmless, type Terminal } from "../terminal.ts";

interface KeyAnswer {
  id: string;
  prefix: string;
  name: string;
  scopes: string[];
  collections: string[] | null;
  rate_limit_rpm: number;
  jobs_per_day: number | null;
  jobs_today: number;
  expires_at: string | null;
  is_active: boolean;
}

export interface NewKeyOptions {
  scope?: string[];
  collection?: string[];
  rpm?: number;
  jobsPerDay?: number;
  expires?: string;
  json?: true;
}

export interface KeyLimits {
  collection?: string[];
  unlimited?: true;
  /** 0: any number. */
  jobsPerDay?: number;
  json?: true;
}

export async function createKey(
  api: ApiClient,
  terminal: Terminal,
  name: string,
  { scope, collection, rpm, jobsPerDay, expires, json }: NewKeyOptions,
): Promise<number> {
  const created = await api<KeyAnswer & { key: string }>("POST", "/api/v1/api-keys", {
    name,
    ...(scope && { scopes: scope }),
    ...(collection && { collections: collection }),
    ...(rpm !== undefined && { rate_limit_rpm: rpm }),
    ...(jobsPerDay !== undefined && { jobs_per_day: jobsPerDay }),
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

const quotaOf = ({ jobs_per_day, jobs_today }: KeyAnswer): string =>
  jobs_per_day === null ? "" : `  (${jobs_today} of ${jobs_per_day} jobs today)`;

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

/** Holds a key to collections from its next request on, to none where `unlimited` is wanted, and sets its quota. */
export async function limitKey(
  api: ApiClient,
  terminal: Terminal,
  id: string,
  { collection, unlimited, jobsPerDay, json }: KeyLimits,
): Promise<number> {
  const both = collection !== undefined && unlimited !== undefined;
  if (both || (collection === undefined && unlimited === undefined && jobsPerDay === undefined)) {
    throw new CliError(
      "Name the key's collections with --collection, or say --unlimited; or --jobs-per-day",
      EXIT.usage,
    );
  }
  const limited = await api<KeyAnswer>("PUT", `/api/v1/api-keys/${encodeURIComponent(id)}`, {
    ...((collection ?? unlimited) !== undefined && { collections: collection ?? null }),
    ...(jobsPerDay !== undefined && { jobs_per_day: jobsPerDay === 0 ? null : jobsPerDay }),
  });
  if (json) terminal.line(JSON.stringify(limited, null, 2));
  else terminal.line(`Key ${id} reaches ${limited.collections?.join(", ") ?? "everything that its scopes let it"}.`);
  return EXIT.done;
}
