/**
 * Keeps values that every container may use again: small ones in the state table, large ones in the bucket. Of those
 * who ask for the same at the same time one makes the value, and the others wait for it a while. A cache that is down
 * or slow costs one bounded wait now and then, never an answer.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Clock } from "../clock.ts";
import { uuidv7 } from "../ids.ts";
import type { ObjectStore } from "./objects.ts";
import { expiresAt, type StateItem, type StateTable } from "./state-table.ts";

export interface SharedCacheStore {
  state: Pick<StateTable, "read" | "put" | "remove" | "takeOnce">;
  objects: ObjectStore;
  clock: Clock;
  log: { warn(message: string, fields: Record<string, unknown>): void };
}

export interface SharedCacheOptions<T> {
  /** Of one kind are values that one codec reads. */
  kind: string;
  ttlS: number;
  /** How long a caller waits for another one that makes the value, in ms. */
  waitMs: number;
  /** For each call of table or bucket, in ms. */
  callMs?: number;
  encode(value: T): Uint8Array;
  /** @throws where these are no bytes of `encode`: the value is made anew */
  decode(bytes: Uint8Array): T;
}

export interface Made<T> {
  value: T;
  /** The name that it is kept under; null: it is not kept. */
  keepAs: string | null;
}

export interface SharedCache<T> {
  /**
   * The value of the name, or what `make` makes where there is none.
   * @returns `until`, in epoch ms, where it was kept before; it was not where that is null
   * @throws what `make` throws, and nothing else
   */
  through(name: string, make: () => Promise<Made<T>>): Promise<{ value: T; until: number | null }>;
}

/** Below the prefix whose objects the bucket's lifecycle removes. */
const CACHED_OBJECTS = "cache/";
/**
 * Compressed, in bytes. An item costs a write unit for each KB, an object as much as eight of these, and takes several
 * times as long to read.
 */
const LARGEST_ITEM = 16 * 1024;
/** For so long a name is left to the container that makes its value: it may have died. */
const CLAIM_MS = 30_000;
const CALL_MS = 250;
/** For so long nobody asks again after a call failed or was late. */
const REST_MS = 10_000;
const POLL_MS = 50;
const NAME_BYTES = 16;

const UNCLAIMED_AND_UNCHANGED =
  "(attribute_not_exists(claimed_until) OR claimed_until < :now) AND (attribute_not_exists(#until) OR #until = :seen)";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

class Late extends Error {}

export function createSharedCache<T>(store: SharedCacheStore, options: SharedCacheOptions<T>): SharedCache<T> {
  const { state, objects, clock, log } = store;
  const { kind, ttlS, waitMs, callMs = CALL_MS, encode, decode } = options;
  let restsUntil = 0;
  const hashOf = (name: string) => createHash("sha256").update(name).digest().subarray(0, NAME_BYTES).toString("hex");
  const pkOf = (hash: string) => `cache#${kind}#${hash}`;

  /** @returns undefined where the cache rests, fails or is late */
  async function unlessResting<R>(work: () => Promise<R>): Promise<R | undefined> {
    if (clock.now() < restsUntil) return undefined;
    try {
      return await work();
    } catch (error) {
      restsUntil = clock.now() + REST_MS;
      log.warn("a cache that containers share is left alone for a while", { cache: kind, error });
      return undefined;
    }
  }

  async function inTime<R>(call: Promise<R>): Promise<R> {
    const over = new AbortController();
    const late = clock.sleep(callMs, over.signal).then(() => {
      throw new Late(`It did not answer within ${callMs} ms`);
    });
    // the one that loses concerns nobody
    late.catch(() => undefined);
    try {
      return await Promise.race([call, late]);
    } finally {
      over.abort();
    }
  }

  async function readValue(item: StateItem | undefined): Promise<{ value: T; until: number } | undefined> {
    const until = Number(item?.["until"] ?? 0);
    if (item === undefined || until <= clock.now()) return undefined;
    const { bytes, object } = item;
    const packed = typeof object === "string" ? await inTime(objects.get(object)) : bytes;
    if (!(packed instanceof Uint8Array)) return undefined;
    try {
      return { value: decode(await unzip(packed)), until };
    } catch (error) {
      log.warn("a cached value cannot be read and is made anew", { cache: kind, error });
      return undefined;
    }
  }

  /** @returns the value, or whether it is ours to make */
  async function find(pk: string, token: string): Promise<{ value: T; until: number } | "ours" | "late"> {
    const waitsUntil = clock.now() + waitMs;
    let item = await inTime(state.read(pk, false));
    for (;;) {
      const found = await readValue(item);
      if (found !== undefined) return found;
      const now = clock.now();
      const claimed = Number(item?.["claimed_until"] ?? 0) > now;
      if (!claimed) {
        const change = {
          set: { claimed_until: now + CLAIM_MS, until: 0, expires_at: expiresAt(now, CLAIM_MS / 1000) },
          when: UNCLAIMED_AND_UNCHANGED,
          values: { now, seen: item?.["until"] ?? 0 },
        };
        const claim = await inTime(state.takeOnce(pk, "claimed_by", change, token));
        if (claim.taken) return "ours";
        item = claim.item;
        if (Number(item?.["until"] ?? 0) > now) continue;
      }
      if (clock.now() >= waitsUntil) return "late";
      await clock.sleep(POLL_MS);
      item = await inTime(state.read(pk));
    }
  }

  async function keep(name: string, value: T): Promise<void> {
    const hash = hashOf(name);
    const packed = await zip(encode(value));
    const now = clock.now();
    const times = { until: now + ttlS * 1000, expires_at: expiresAt(now, ttlS) };
    if (packed.length <= LARGEST_ITEM) return await inTime(state.put(pkOf(hash), { bytes: packed, ...times }));
    const object = `${CACHED_OBJECTS}${kind}/${hash}`;
    await inTime(objects.put(object, packed, "application/gzip"));
    await inTime(state.put(pkOf(hash), { object, ...times }));
  }

  return {
    async through(name, make) {
      const pk = pkOf(hashOf(name));
      const token = uuidv7();
      const found = await unlessResting(() => find(pk, token));
      if (found !== undefined && typeof found === "object") return found;
      const release = () =>
        unlessResting(() => inTime(state.remove(pk, { when: "claimed_by = :token", values: { token } })));
      let made: Made<T>;
      try {
        made = await make();
      } catch (error) {
        if (found === "ours") await release();
        throw error;
      }
      const { value, keepAs } = made;
      if (keepAs !== null && found !== undefined) await unlessResting(() => keep(keepAs, value));
      if (keepAs !== name && found === "ours") await release();
      return { value, until: null };
    },
  };
}
