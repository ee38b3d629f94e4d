/** A job for our own crawler: the same options in its words. */
import { crawlConfigSchema } from "../../crawl/settings/crawl-config.ts";
import type { NewJob } from "../../crawl/submit/create-job.ts";
import { patternFaults } from "../../crawl/urls/patterns.ts";
import { type ScopeRequest, scopeOfSeeds } from "../../crawl/urls/scope-of-seeds.ts";
import { readPassthrough } from "../engines/passthrough.ts";

/** Those of crawls by the API. */
const MOST_PAGES = 1_000_000;
const MOST_DEPTH = 1_000;

const SCOPE_MODES: Readonly<Record<string, ScopeRequest["mode"] | "page">> = {
  page: "page",
  prefix: "prefix",
  host: "host",
  domain: "domain",
  any: "any",
};

export type NativeCrawl = Pick<NewJob, "kind" | "seeds" | "scope" | "maxDepth" | "maxPages" | "timeoutS">;

/** Options by their keys; see `readPassthrough`. */
interface Asked {
  pages: number;
  depth: number;
  mode: string;
  include: string[];
  exclude: string[];
  timeoutS: number | null;
}

/** @returns the crawl, as far as it has no faults; and what of the arguments cannot be had of our crawler */
export function nativeCrawl({ seeds, zimit_passthrough_args }: { seeds: string[]; zimit_passthrough_args: string[] }): {
  crawl: NativeCrawl | undefined;
  faults: string[];
} {
  const faults: string[] = [];
  const asked: Asked = {
    pages: MOST_PAGES,
    depth: MOST_DEPTH,
    mode: "prefix",
    include: [],
    exclude: [],
    timeoutS: null,
  };
  for (const { key, name, value } of readPassthrough(zimit_passthrough_args).options) {
    const fault = takeOption(asked, key, value);
    if (fault !== undefined) faults.push(`--${name} ${fault}`);
  }
  for (const patterns of [asked.include, asked.exclude]) {
    for (const { index, fault } of patternFaults(patterns)) faults.push(`the pattern "${patterns[index]}": ${fault}`);
  }
  if (faults.length > 0) return { crawl: undefined, faults };
  const mode = SCOPE_MODES[asked.mode] ?? "prefix";
  const { include, exclude, timeoutS, pages: maxPages, depth } = asked;
  const scope = scopeOfSeeds(seeds, { mode: mode === "page" ? "any" : mode, include, exclude });
  const maxDepth = mode === "page" ? 0 : depth;
  return { crawl: { kind: "site", seeds: [...seeds], scope, maxDepth, maxPages, timeoutS }, faults };
}

const KNOWN = [
  "--pageLimit",
  "--maxPageLimit",
  "--depth",
  "--scopeType",
  "--scopeIncludeRx",
  "--scopeExcludeRx",
  "--timeSoftLimit",
  "--timeHardLimit",
];

/** @returns what is wrong with it */
function takeOption(asked: Asked, key: string, value: string | undefined): string | undefined {
  switch (key) {
    case "pagelimit":
    case "maxpagelimit": {
      const pages = wholeNumber(value);
      if (pages === undefined || pages > MOST_PAGES) return `takes a whole number up to ${MOST_PAGES}; 0 is no limit`;
      if (pages > 0) asked.pages = Math.min(asked.pages, pages);
      return undefined;
    }
    case "depth": {
      const depth = value === "-1" ? MOST_DEPTH : wholeNumber(value);
      if (depth === undefined || depth > MOST_DEPTH) return `takes a whole number up to ${MOST_DEPTH}; -1 is no limit`;
      asked.depth = depth;
      return undefined;
    }
    case "scopetype":
      if (value === undefined || !(value in SCOPE_MODES)) return `takes one of ${Object.keys(SCOPE_MODES).join(", ")}`;
      asked.mode = value;
      return undefined;
    case "scopeincluderx":
    case "include":
      return addPattern(asked.include, value);
    case "scopeexcluderx":
    case "exclude":
      return addPattern(asked.exclude, value);
    case "timesoftlimit":
    case "timehardlimit":
    case "timelimit": {
      const seconds = wholeNumber(value);
      if (seconds === undefined) return "takes seconds; 0 is no limit";
      if (seconds > 0) asked.timeoutS = Math.min(asked.timeoutS ?? seconds, seconds);
      return undefined;
    }
    default:
      return `is no option of the native engine: it knows ${KNOWN.join(", ")}`;
  }
}

const wholeNumber = (value = ""): number | undefined => (/^\d{1,9}$/.test(value) ? Number(value) : undefined);

function addPattern(patterns: string[], value: string | undefined): string | undefined {
  if (value === undefined || value === "") return "takes a regular expression";
  patterns.push(value);
  return undefined;
}

/** What our crawler takes beside it. */
export const nativeSettings = () => crawlConfigSchema.parse({});
