/**
 * Links of a job that lead to nothing further, as a container remembers them: most links of a site are on each of its pages, and
 * reading, hashing and offering them to the frontier again and again costs more than all the rest of following links.
 *
 * A URL never leaves the frontier while its job runs and a job's scope never changes, so a seen link stays so. What is
 * not remembered is merely looked up again.
 */

import { LRUCache } from "lru-cache";

/** Jobs that a container remembers. */
const KEPT_JOBS = 8;
/** Of one job, in bytes: some 20,000 links. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Of a link besides its characters. */
const BYTES_PER_LINK = 64;

interface SeenLinks {
  links: Set<string>;
  bytes: number;
}

const NONE: ReadonlySet<string> = new Set();
const jobs = new LRUCache<string, SeenLinks>({ max: KEPT_JOBS });

/** As pages have them: absolute, not normalised. */
export function seenLinks(jobId: string): ReadonlySet<string> {
  return jobs.get(jobId)?.links ?? NONE;
}

/** To be called once the transaction has committed that put the links into the frontier. */
export function rememberLinks(jobId: string, links: readonly string[]): void {
  if (links.length === 0) return;
  const seen = jobs.get(jobId) ?? { links: new Set(), bytes: 0 };
  jobs.set(jobId, seen);
  for (const link of links) {
    if (seen.bytes >= MAX_BYTES) return;
    if (seen.links.has(link)) continue;
    seen.links.add(link);
    seen.bytes += link.length + BYTES_PER_LINK;
  }
}
