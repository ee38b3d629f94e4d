/** Counts who asks routes that want no key, told apart by address. */
import { rateLimited } from "./authorize.ts";
import { ofAddress, type RateLimiter } from "./rate-limit.ts";

export interface Readers {
  /** @throws ApiError 429 RATE_LIMITED */
  admit(address: string): Promise<void>;
}

/** @param perMinute requests of one address; 0: any number */
export function createReaders(limiter: RateLimiter, perMinute: number, now: () => number = Date.now): Readers {
  return {
    async admit(address) {
      if (perMinute === 0) return;
      const rate = await limiter.take(ofAddress("reader", address), perMinute);
      if (rate.exceeded) throw rateLimited(rate, now(), "This address may send");
    },
  };
}
