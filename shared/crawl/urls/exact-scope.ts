/** Which URLs belong to a job, exactly: with the public suffix list and the job's patterns. */
import { LRUCache } from "lru-cache";
import { getDomain } from "tldts";
import { compilePatterns } from "./patterns.ts";
import type { Scope } from "./scope.ts";
import { inScope } from "./scope.ts";

export interface ScopeCheck {
  /**
   * @param url normalised: patterns are found in it
   * @param isSeed a seed, or where it redirects: `include` narrows what is followed from there, not the start itself
   */
  admits(url: URL, isSeed?: boolean): boolean;
}

/**
 * The registrable domain of a host: one label below its public suffix, those of private registries included
 * (`someone.github.io`). A host that has none, such as an IP address, stands for itself.
 * @param hostname as `URL.hostname` has it
 */
export function registrableDomain(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

export function createScopeCheck(scope: Scope): ScopeCheck {
  const includes = scope.include.length === 0 ? null : compilePatterns(scope.include);
  const excludes = scope.exclude.length === 0 ? null : compilePatterns(scope.exclude);
  const roots = new Set(scope.roots);
  const within = (url: URL): boolean => {
    if (scope.mode === "host") return roots.has(url.host);
    if (scope.mode === "domain") return roots.has(registrableDomain(url.hostname));
    return inScope(url, scope);
  };
  return {
    admits(url, isSeed = false) {
      if (!within(url)) return false;
      if (!isSeed && includes !== null && !includes(url.href)) return false;
      return excludes === null || !excludes(url.href);
    },
  };
}

/** By job. A job's scope never changes, and compiling its patterns costs as much as a page. */
const scopeChecks = new LRUCache<string, ScopeCheck>({ max: 32 });

/** The check of a job's scope, made once per container. */
export function scopeCheckOf(jobId: string, scope: Scope): ScopeCheck {
  const known = scopeChecks.get(jobId);
  if (known !== undefined) return known;
  const check = createScopeCheck(scope);
  scopeChecks.set(jobId, check);
  return check;
}
