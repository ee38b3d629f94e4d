/** The requests that a crawl can begin with, and where each leads. */
import { shell } from "../../forms/equal-calls.ts";
import type { Filled } from "../../forms/schema.ts";
import type { goTo } from "../../router.ts";

export interface Kind {
  title: string;
  does: string;
  path: string;
  /** Where the address stands in the request. */
  urlField: string;
  /** Words of the CLI that do the same; undefined where an option has no word there. */
  command(address: string, filled: Filled): string | undefined;
  /** Opens where its answer leads; undefined where the answer itself is what was asked for. */
  ended?(answer: unknown, go: typeof goTo): void;
}

const toJob: NonNullable<Kind["ended"]> = (answer, go) => go(["jobs", (answer as { job_id: string }).job_id]);

const FLAGS: Record<string, string> = {
  max_depth: "--depth",
  max_pages: "--max-pages",
  strategy: "--strategy",
  scope: "--scope",
  priority: "--priority",
  "config.render": "--render",
};

function crawlCommand(address: string, filled: Filled): string | undefined {
  const given = Object.entries(filled).filter(([, text]) => text.trim() !== "");
  if (given.some(([name]) => FLAGS[name] === undefined)) return undefined;
  const words = given.flatMap(([name, text]) => [FLAGS[name] ?? "", shell(text)]);
  return ["npx strandline crawl", shell(address), ...words, "--watch"].join(" ");
}

export const KINDS = {
  deep: {
    title: "Crawl the site",
    does: "Follows the links of the page, two levels deep and 100 pages at the most where you say nothing else.",
    path: "/api/v1/crawl/deep",
    urlField: "url",
    command: crawlCommand,
    ended: toJob,
  },
  pages: {
    title: "Crawl these pages",
    does: "Fetches the given pages as one job, and follows no links.",
    path: "/api/v1/crawl",
    urlField: "urls",
    command: () => undefined,
    ended: toJob,
  },
  batch: {
    title: "A job for each page",
    does: "Fetches each page as a job of its own. One that is refused leaves the others alone.",
    path: "/api/v1/crawl/batch",
    urlField: "urls",
    command: () => undefined,
    ended: (_answer, go) => go(["jobs"]),
  },
  spider: {
    title: "Crawl as a spider",
    does: "From one or more addresses, with limits of depth, pages and requests, and which fields its pages have.",
    // without it the answer would be the pages, once all are there
    path: "/spider/crawl?result_mode=store",
    urlField: "seed_urls",
    command: () => undefined,
    ended: toJob,
  },
  scrape: {
    title: "Show one page",
    does: "Fetches one page now and shows it, in the formats that you name under “More options”.",
    path: "/api/v1/scrape",
    urlField: "url",
    command: () => undefined,
  },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

export const isKind = (name: string | null): name is KindName => name !== null && Object.hasOwn(KINDS, name);
