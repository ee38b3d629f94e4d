/** Adds what the pages of a batch link to to the job's frontier: within its scope, its depth and its bounds. */
import type { Extraction } from "../../extract/extraction.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { addUrls, type ClaimedUrl, knowsAll, type NewUrl } from "../frontier/frontier.ts";
import { type JobRow, noteLimit } from "../jobs/lifecycle.ts";
import { scopeCheckOf } from "../urls/exact-scope.ts";
import { keyRules } from "../urls/normalize-url.ts";
import { linkScorer } from "../urls/relevance.ts";
import { type LinkRules, linkedUrls } from "./links.ts";
import type { Outcome } from "./outcomes.ts";
import { seenLinks } from "./seen-links.ts";
import { filterTraps, keepRefusals, trackCalendars } from "./traps.ts";

/** A claimed URL with what became of it, and what it leads to. */
export interface Followed {
  url: ClaimedUrl;
  outcome: Outcome;
  /** Normalised. */
  finalUrl: string;
  /** Absolute URLs that the job may follow. */
  links: readonly string[];
  /** What the page says, where that is at hand. */
  page?: Pick<Extraction, "title" | "text" | "language" | "anchors"> | null;
}

/** URLs that a frontier holds per page that may be fetched, at the most: a trap must not fill the database. */
const FRONTIER_FACTOR = 100;

export interface Gained {
  /** Hosts that gained a URL. */
  hosts: ReadonlySet<string>;
  /** Links that lead to nothing further once this has committed; see seen-links.ts. */
  seenLinks: readonly string[];
}

export const NOTHING_GAINED: Gained = { hosts: new Set(), seenLinks: [] };

/** Adds what the pages link to, and notes where a limit cuts something off. The caller holds the job's row. */
export async function followLinks(tx: Transaction, job: JobRow, captured: readonly Followed[]): Promise<Gained> {
  if (job.kind !== "site") return NOTHING_GAINED;
  const { max_depth, max_pages } = job.settings;
  const crawled = captured.filter(({ outcome }) => outcome.state === "crawled");
  const pages = [...crawled, ...captured.flatMap((page) => ledBack(job, page))];
  const became = new Map<string, string | null>();
  const found = linkedUrls(
    pages.map(({ finalUrl, url, links }) => ({ url: finalUrl, depth: url.depth, links })),
    rulesOf(job, pages, became),
  );
  await trackCalendars(tx, job, datedPages(crawled));
  const { admitted, refused } = await filterTraps(
    tx,
    job,
    found.filter(({ depth }) => depth <= max_depth),
  );
  const room = Math.max(0, FRONTIER_FACTOR * max_pages - job.counts.discovered);
  const added = admitted.slice(0, room);
  const hosts = await addUrls(tx, job, added);
  await keepRefusals(tx, job, refused);
  await noteCut(tx, job, admitted.slice(room), "budget_exhausted");
  const beyond = found.filter(({ depth }) => depth > max_depth);
  await noteCut(tx, job, beyond, "max_depth");
  const inFrontier = new Set(added.map(({ url }) => url));
  const seen = [...became].filter(([, url]) => url === null || inFrontier.has(url)).map(([link]) => link);
  return { hosts, seenLinks: seen };
}

async function noteCut(
  tx: Transaction,
  job: JobRow,
  cut: readonly NewUrl[],
  limit: "max_depth" | "budget_exhausted",
): Promise<void> {
  if (cut.length === 0 || job.stopReason === limit || (limit === "max_depth" && job.stopReason !== null)) return;
  const hashes = cut.map((each) => each.urlHash);
  if (!(await knowsAll(tx, job.id, hashes))) await noteLimit(tx, job, limit);
}

/** @param became gets the URL of each link; stays empty where links have to be looked at again */
function rulesOf(job: JobRow, pages: readonly Followed[], became: Map<string, string | null>): LinkRules {
  const { strategy, scope, keywords, score_threshold, config } = job.settings;
  const rules = { scope: scopeCheckOf(job.id, scope), key: keyRules(config) };
  // breadth first alone, what is found again is never nearer or worth more than it was
  if (strategy === "bfs") {
    return { ...rules, seen: seenLinks(job.id), note: (link, url) => void became.set(link, url) };
  }
  if (strategy === "dfs") return rules;
  const scorer = linkScorer(keywords);
  const parents = pages.map(({ page }) => (page ? scorer.page(page.title, page.text) : 0));
  return {
    ...rules,
    score: {
      threshold: score_threshold,
      of: (url, page, position) => {
        const anchor = pages[page]?.page?.anchors?.[position] ?? "";
        return scorer.link(url, anchor, parents[page] ?? 0);
      },
    },
  };
}

/**
 * A task of a job with very many roots knows those of its own host only: what redirects to another one comes back as out of
 * scope although it is not. Its target counts as a link.
 */
function ledBack(job: JobRow, captured: Followed): Followed[] {
  const { outcome, url, finalUrl } = captured;
  if (outcome.errorCode !== "OUT_OF_SCOPE" || finalUrl === url.url) return [];
  if (!scopeCheckOf(job.id, job.settings.scope).admits(new URL(finalUrl))) return [];
  return [{ ...captured, links: [finalUrl] }];
}

const datedPages = (crawled: readonly Followed[]) =>
  crawled.flatMap(({ finalUrl, page }) => (page ? [{ url: finalUrl, text: page.text, language: page.language }] : []));
