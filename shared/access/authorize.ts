/**
 * Decides who may do what: a presented key becomes a caller, or an error that tells nothing about the keys there are.
 * Whatever has the form of a key takes the same path: one hash, and one look-up, in the cache or in the database.
 */
import { timingSafeEqual } from "node:crypto";
import type { Queryable } from "../platform/database/database.ts";
import { ApiError } from "../platform/errors.ts";
import { sha256 } from "../platform/ids.ts";
import { type AccessScope, findApiKey, isWellFormedKey, SCOPES, usableKeys } from "./api-keys.ts";
import type { KeyCache, KnownKey } from "./key-cache.ts";
import { ofAddress, type RateLimiter, type RateLimitState } from "./rate-limit.ts";

export interface Caller {
  keyId: string;
  name: string;
  scopes: readonly AccessScope[];
  /** The collections that the key is limited to; null: it is not. */
  collectionIds: readonly string[] | null;
}

export interface Circumstances {
  /** Whether keys that are limited to collections may come in: whoever lets them holds them to these. */
  limited?: boolean | undefined;
  /** Of whoever asks: one that presents key after key is made to wait before the database is asked. */
  address?: string | undefined;
}

export interface Gate {
  /**
   * @param presented the key as it came, undefined where none did
   * @throws ApiError 401 AUTH_REQUIRED, 403 FORBIDDEN, 429 RATE_LIMITED
   */
  admit(
    presented: string | undefined,
    scope: AccessScope,
    circumstances?: Circumstances,
  ): Promise<{ caller: Caller; rate: RateLimitState }>;
  /** Whether a key that was admitted would be again: it may have been revoked, or have expired. */
  stillAdmits(keyId: string): Promise<boolean>;
}

interface GateOptions {
  sql: Queryable;
  limiter: RateLimiter;
  cache: KeyCache;
  now?: () => number;
}

/** Keys that the database is asked for, of one address in a minute: whoever uses a key asks once in five. */
const LOOK_UPS_PER_MINUTE = 60;

/** Makes the gate that every request of an API passes. */
export function createGate({ sql, limiter, cache, now = Date.now }: GateOptions): Gate {
  const lookUp = async (presented: string, address: string): Promise<KnownKey | undefined> => {
    const hash = sha256(presented);
    const cached = await cache.read(hash);
    if (cached === undefined) {
      const lookUps = await limiter.take(ofAddress("look-up", address), LOOK_UPS_PER_MINUTE);
      if (lookUps.exceeded) throw rateLimited(lookUps, now(), "This address may present", "keys");
    } else if (cached !== "changing") return cached ?? undefined;
    const key = await findApiKey(sql, hash);
    const matches = timingSafeEqual(hash, key?.keyHash ?? Buffer.alloc(hash.length));
    await cache.keep(hash, key);
    return matches && key?.isActive ? key : undefined;
  };
  return {
    async admit(presented, scope, { limited = false, address = "" } = {}) {
      if (presented === undefined || !isWellFormedKey(presented)) throw keyRequired();
      const key = await lookUp(presented, address);
      if (key === undefined || (key.expiresAt?.getTime() ?? Infinity) <= now()) throw keyRequired();
      if (!includesScope(key.scopes, scope)) throw scopeLacking(scope, key.scopes);
      if (key.collectionIds !== null && !limited) throw outOfReach();
      const rate = await limiter.take(key.id, key.rateLimitRpm);
      if (rate.exceeded) throw rateLimited(rate, now());
      const { id: keyId, name, scopes, collectionIds } = key;
      return { caller: { keyId, name, scopes, collectionIds }, rate };
    },
    async stillAdmits(keyId) {
      return (await usableKeys(sql, [keyId])).has(keyId);
    },
  };
}

/** The answer to who presents no key, or none that there is. */
export const keyRequired = (): ApiError =>
  new ApiError(401, "A valid API key is required: send it as `Authorization: Bearer KEY` or `X-API-Key: KEY`", {
    code: "AUTH_REQUIRED",
    headers: { "www-authenticate": "Bearer" },
  });

/** The answer to a key that may not do what was asked. */
export const scopeLacking = (required: AccessScope, held: readonly AccessScope[]): ApiError =>
  new ApiError(403, `This API key lacks the scope ${required}`, {
    code: "FORBIDDEN",
    details: { required_scope: required, scopes: held },
  });

/** The answer to a key that is limited to collections, whatever else it asked for: whether that exists is not told. */
export const outOfReach = (): ApiError =>
  new ApiError(403, "This API key is limited to collections, and may not ask for this", { code: "FORBIDDEN" });

/** Whether one scope includes another: admin includes write, and write includes read. */
export function includesScope(held: readonly AccessScope[], required: AccessScope): boolean {
  return held.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(required));
}

/** Makes the headers that tell a caller of its limit. `X-RateLimit-Reset` is in seconds since the epoch. */
export function rateLimitHeaders(rate: RateLimitState): Record<string, string> {
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(Math.ceil(rate.resetAt / 1000)),
  };
}

/** @param may who may do what with how many `things`, in words */
export function rateLimited(
  rate: RateLimitState,
  now: number,
  may = "This API key may send",
  things = "requests",
): ApiError {
  const retryAfterS = Math.max(1, Math.ceil((rate.resetAt - now) / 1000));
  return new ApiError(429, `${may} ${rate.limit} ${things} a minute: try again in ${retryAfterS} s`, {
    code: "RATE_LIMITED",
    details: { limit: rate.limit, retry_after_s: retryAfterS },
    headers: { ...rateLimitHeaders(rate), "retry-after": String(retryAfterS) },
  });
}
