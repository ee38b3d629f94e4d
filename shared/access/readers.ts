/** Counts who asks routes that want no key, told apart by address. */
import { sha256 } from "../platform/ids.ts";
import { rateLimited } from "./authorize.ts";
import type { RateLimiter } from "./rate-limit.ts";

export interface Readers {
  /** @throws ApiError 429 RATE_LIMITED */
  admit(address: string): Promise<void>;
}

/** @param perMinute requests of one address; 0: any number */
export function createReaders(limiter: RateLimiter, perMinute: number, now: () => number = Date.now): Readers {
  return {
    async admit(address) {
      if (perMinute === 0) return;
      // no address is kept, not for the minute either
      const rate = await limiter.take(`reader#${sha256(address).toString("base64url").slice(0, 22)}`, perMinute);
      if (rate.exceeded) throw rateLimited(rate, now(), "This address");
    },
  };
}
