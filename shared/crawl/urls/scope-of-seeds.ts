/** The scope of a job, made from its seeds and what a request says of it. */
import { z } from "zod";
import { ApiError } from "../../platform/errors.ts";
import { registrableDomain } from "./exact-scope.ts";
import { MAX_PATTERN_LENGTH, MAX_PATTERNS, patternFault, patternFaults } from "./patterns.ts";
import type { Scope } from "./scope.ts";

// what is longer is not even compiled
const patternText = z.string().min(1).max(MAX_PATTERN_LENGTH, { abort: true });

/** A pattern as requests carry it. */
export const urlPatternSchema = patternText.superRefine((pattern, context) => {
  const fault = patternFault(pattern);
  if (fault !== null) context.addIssue({ code: "custom", message: faultMessage(pattern, fault) });
});

/** A pattern that is not of RE2's syntax, or too much for the list, is a fault of the very element. */
export const urlPatternsSchema = z
  .array(patternText)
  .max(MAX_PATTERNS, { abort: true })
  .superRefine((patterns, context) => {
    for (const { index, fault } of patternFaults(patterns)) {
      context.addIssue({ code: "custom", path: [index], message: faultMessage(patterns[index], fault) });
    }
  })
  .default([]);

const faultMessage = (pattern: string | undefined, fault: string): string => `the pattern "${pattern}": ${fault}`;

export interface ScopeRequest {
  /** What the seeds stand for: themselves and wherever they lead, their hosts, registrable domains, or paths. */
  mode: Scope["mode"];
  /** RE2 syntax, checked by `urlPatternsSchema` or by this function. */
  include?: readonly string[];
  exclude?: readonly string[];
}

/**
 * @param seeds absolute http(s) URLs
 * @throws ApiError 400 VALIDATION_ERROR that names the field and the pattern which is not of RE2's syntax
 */
export function scopeOfSeeds(seeds: readonly string[], { mode, include = [], exclude = [] }: ScopeRequest): Scope {
  for (const [field, patterns] of Object.entries({ include, exclude })) checkPatterns(field, patterns);
  const roots = mode === "any" ? [] : [...new Set(seeds.map((seed) => rootOf(new URL(seed), mode)))];
  return { mode, roots, include: [...include], exclude: [...exclude] };
}

/** The reference's `same_domain_only`: the registrable domains of the seeds, or anywhere. */
export const sameDomainMode = (sameDomainOnly: boolean): Scope["mode"] => (sameDomainOnly ? "domain" : "any");

function rootOf(seed: URL, mode: "host" | "domain" | "prefix"): string {
  if (mode === "host") return seed.host;
  if (mode === "domain") return registrableDomain(seed.hostname);
  return seed.host + folderOf(seed.pathname);
}

/** `/docs/` and `/docs` stand for themselves, `/docs/index.html` for `/docs/`: what has an extension is a file. */
function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return path.includes(".", slash) ? path.slice(0, slash + 1) : path;
}

function checkPatterns(field: string, patterns: readonly string[]): void {
  const [first] = patternFaults(patterns);
  if (first === undefined) return;
  const path = `${field}[${first.index}]`;
  const message = faultMessage(patterns[first.index], first.fault);
  throw new ApiError(400, `${path}: ${message}`, {
    code: "VALIDATION_ERROR",
    details: { faults: [{ in: "body", path, message }] },
  });
}
