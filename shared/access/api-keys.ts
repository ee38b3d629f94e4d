/**
 * Makes, lists and revokes API keys. Only the SHA-256 of a key is stored. A key holds 256 random bits, so nothing
 * slower than one hash is needed to keep it from being guessed back.
 */
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Queryable, Sql } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { sha256, uuidv7 } from "../platform/ids.ts";
import { today } from "./key-work.ts";

/** Weakest first: each scope includes those before it. */
export const SCOPES = ["read", "write", "admin"] as const;
export type AccessScope = (typeof SCOPES)[number];

/** What may be shown of a key at any time. */
export interface ApiKey {
  id: string;
  /** The first characters of the key, to tell keys apart. */
  prefix: string;
  name: string;
  scopes: AccessScope[];
  /** Requests a minute. */
  rateLimitRpm: number;
  /** The collections that it may reach, and nothing else; null: all that there is. */
  collectionIds: string[] | null;
  /** Jobs that it may begin in a day of UTC; null: any number. */
  jobsPerDay: number | null;
  /** Those that it has begun today. */
  jobsToday: number;
  /** Pages that its jobs may fetch in a day of UTC; null: any number. */
  pagesPerDay: number | null;
  /** Those that they have fetched today. */
  pagesToday: number;
  /** Bytes of captures and uploads that it may store; null: any number. */
  maxStoredBytes: number | null;
  /** Those that it stores. */
  storedBytes: number;
  createdAt: Date;
  expiresAt: Date | null;
  /** False once revoked. A key may also have expired: see `expiresAt`. */
  isActive: boolean;
}

export interface NewApiKey {
  name: string;
  scopes: readonly AccessScope[];
  rateLimitRpm: number;
  expiresAt: Date | null;
  /** See `ApiKey`; not together with the scope admin. At least one. */
  collectionIds?: readonly string[] | null;
  /** See `ApiKey`; null where not given. */
  jobsPerDay?: number | null;
  pagesPerDay?: number | null;
  maxStoredBytes?: number | null;
}

/** The marker lets secret scanners find a leaked key. */
const KEY_MARKER = "sl_";
const KEY_BYTES = 32;
const PREFIX_LENGTH = KEY_MARKER.length + 6;
/** Marker, secret, checksum. */
const KEY_FORM = /^(sl_[\w-]{43})([\w-]{6})$/;

const checksum = (text: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString("base64url");
};

/**
 * Whether it can be one of our keys: what is mistyped, cut, or another service's needs no look-up, which would wake a
 * paused database.
 */
export function isWellFormedKey(presented: string): boolean {
  const [, secret = "", sum] = KEY_FORM.exec(presented) ?? [];
  return secret !== "" && sum === checksum(secret);
}

/**
 * Makes an API key and stores its hash.
 * @returns the key itself too, which is shown this once and stored nowhere
 */
export async function createApiKey(sql: Queryable, wanted: NewApiKey): Promise<ApiKey & { key: string }> {
  const secret = KEY_MARKER + randomBytes(KEY_BYTES).toString("base64url");
  const key = secret + checksum(secret);
  const [row] = await sql<ApiKey[]>`
    insert into api_keys (id, key_hash, prefix, name, scopes, rate_limit_rpm, expires_at, collection_ids,
      jobs_per_day, pages_per_day, max_stored_bytes)
    values (${uuidv7()}, ${sha256(key)}, ${key.slice(0, PREFIX_LENGTH)}, ${wanted.name}, ${[...wanted.scopes]},
            ${wanted.rateLimitRpm}, ${wanted.expiresAt}, ${wanted.collectionIds ? [...wanted.collectionIds] : null}::uuid[],
            ${wanted.jobsPerDay ?? null}, ${wanted.pagesPerDay ?? null}, ${wanted.maxStoredBytes ?? null})
    returning ${columns(sql)}`;
  return { ...(row as ApiKey), key };
}

/** @throws ApiError 404 where one of the collections does not exist */
export async function requireCollections(sql: Queryable, ids: readonly string[]): Promise<void> {
  const rows = await sql<{ id: string }[]>`select id from collections where id = any(${[...ids]}::uuid[])`;
  const missing = ids.find((id) => !rows.some((row) => row.id === id));
  if (missing === undefined) return;
  throw new ApiError(404, `There is no collection ${missing} (collections)`, { code: "NOT_FOUND" });
}

/**
 * Lists API keys, newest first, revoked ones included.
 * @param page `after`: the id of the last key of the page before
 */
export async function listApiKeys(sql: Queryable, page: { limit: number; after?: string }): Promise<ApiKey[]> {
  return await sql<ApiKey[]>`
    select ${columns(sql)} from api_keys
    where ${page.after === undefined ? sql`true` : sql`id < ${page.after}`}
    order by id desc limit ${page.limit}`;
}

/** @throws ApiError 404 where there is no such key */
export async function readApiKey(sql: Queryable, id: string): Promise<ApiKey> {
  const [row] = await sql<ApiKey[]>`select ${columns(sql)} from api_keys where id = ${id}`;
  if (row === undefined) throw new ApiError(404, `There is no API key ${id}`, { code: "NOT_FOUND" });
  return row;
}

type Quotas = "jobsPerDay" | "jobsToday" | "pagesPerDay" | "pagesToday" | "maxStoredBytes" | "storedBytes";
export type FoundKey = Omit<ApiKey, Quotas> & { keyHash: Buffer };

/** Finds the key with this hash, in whatever state, with its hash. */
export async function findApiKey(sql: Queryable, hash: Buffer): Promise<FoundKey | undefined> {
  const [row] = await sql<FoundKey[]>`
    select ${ownColumns(sql)}, key_hash as "keyHash" from api_keys where key_hash = ${hash}`;
  return row;
}

/** What is told of a key before its row is changed, see `KeyCache`. */
interface ToldOfChange {
  bypass(hash: Buffer): Promise<void>;
}

/** @throws ApiError 404 where there is no such key */
async function announceChange(sql: Sql, cache: ToldOfChange, id: string): Promise<void> {
  const [row] = await sql<{ hash: Buffer }[]>`select key_hash as hash from api_keys where id = ${id}`;
  if (row === undefined) throw new ApiError(404, `There is no API key ${id}`, { code: "NOT_FOUND" });
  await cache.bypass(row.hash);
}

type KeyLimits = {
  [Limit in "collectionIds" | "jobsPerDay" | "pagesPerDay" | "maxStoredBytes"]?: ApiKey[Limit] | undefined;
};

/**
 * Holds a key to collections, to others, or to none, and to quotas, from its next request on.
 * @param limits as `ApiKey` has them; what is undefined stays as it is
 * @throws ApiError 404 where there is no such key or collection, 409 where the key has the scope admin
 */
export async function limitApiKey(
  { sql, cache }: { sql: Sql; cache: ToldOfChange },
  id: string,
  limits: KeyLimits,
): Promise<ApiKey> {
  const { collectionIds, jobsPerDay, pagesPerDay, maxStoredBytes } = limits;
  if (collectionIds) await requireCollections(sql, collectionIds);
  await announceChange(sql, cache, id);
  const [row] = await sql<ApiKey[]>`
    update api_keys set
      collection_ids = ${collectionIds === undefined ? sql`collection_ids` : sql`${collectionIds && [...collectionIds]}::uuid[]`},
      jobs_per_day = ${jobsPerDay === undefined ? sql`jobs_per_day` : sql`${jobsPerDay}::int`},
      pages_per_day = ${pagesPerDay === undefined ? sql`pages_per_day` : sql`${pagesPerDay}::int`},
      max_stored_bytes = ${maxStoredBytes === undefined ? sql`max_stored_bytes` : sql`${maxStoredBytes}::bigint`}
    where id = ${id} and (${!collectionIds} or not 'admin' = any(scopes)) returning ${columns(sql)}`;
  if (row !== undefined) return row;
  const message = "The key has the scope admin, which reaches everything: make another key for the collections";
  throw new ApiError(409, message, { code: "CONFLICT" });
}

/**
 * @returns those of the keys that are neither revoked nor expired, nor limited to collections, by their ids: what is
 *   pushed and streamed is of jobs, which limited keys do not see
 */
export async function usableKeys(sql: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from api_keys
    where id::text = any(${[...ids]}) and is_active and collection_ids is null and (expires_at is null or expires_at > now())`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Ends a key at once. Revoking twice is the same as once.
 * @throws ApiError 404 where there is no such key, 409 where it is the last usable admin key: nobody could make another
 */
export async function revokeApiKey({ sql, cache }: { sql: Sql; cache: ToldOfChange }, id: string): Promise<void> {
  await announceChange(sql, cache, id);
  await sql.begin(async (tx) => {
    // two revocations at once must not each take the other's key for the one that remains
    await tx`lock table api_keys in share row exclusive mode`;
    const [state] = await tx<{ isLastAdmin: boolean }[]>`
      select ${usableAdmin(tx)} and not exists (
        select 1 from api_keys where id <> ${id} and ${usableAdmin(tx)}
      ) as "isLastAdmin"
      from api_keys where id = ${id}`;
    if (state?.isLastAdmin) {
      throw new ApiError(409, "This is the last usable admin key: create another one before you revoke it", {
        code: "CONFLICT",
      });
    }
    await tx`update api_keys set is_active = false where id = ${id}`;
  });
}

const usableAdmin = (sql: Queryable) =>
  sql`(is_active and 'admin' = any(scopes) and (expires_at is null or expires_at > now()))`;

const columns = (sql: Queryable) => sql`
  ${ownColumns(sql)}, jobs_per_day as "jobsPerDay",
  coalesce((
    select jobs from key_usage where api_key_id = api_keys.id and day = ${today(sql)}), 0) as "jobsToday",
  pages_per_day as "pagesPerDay", max_stored_bytes as "maxStoredBytes",
  coalesce((
    select pages from key_work where api_key_id = api_keys.id and day = ${today(sql)}), 0) as "pagesToday",
  (select coalesce(sum(stored_bytes), 0)::bigint from key_work where api_key_id = api_keys.id) as "storedBytes"`;

/** Without its quotas, which no request but those that begin something asks about. */
const ownColumns = (sql: Queryable) => sql`
  id, prefix, name, scopes, rate_limit_rpm as "rateLimitRpm", created_at as "createdAt", expires_at as "expiresAt",
  is_active as "isActive", collection_ids as "collectionIds"`;
