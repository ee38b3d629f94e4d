/** SearXNG, self-hosted; `json` must stand among its `search.formats`. https://docs.searxng.org/dev/search_api.html */
import { z } from "zod";
import { CallFailed } from "../../platform/json-client.ts";
import { queryText } from "../query-text.ts";
import { asText, type ProviderDialect, results, withQuery } from "./dialect.ts";
import { knownLanguage } from "./regions.ts";

const answerSchema = z.object({
  results: results("url"),
  /** Engines that gave nothing, each with its reason. */
  unresponsive_engines: z.array(z.tuple([z.string(), z.string()], z.unknown())).catch([]),
});

/** Results of a page, which SearXNG does not say: what most of its engines give. */
const PAGE_SIZE = 10;
const DAY_MS = 24 * 3600 * 1000;
/** `time_range`, by the whole days that it reaches back. */
const RANGES = [
  [0, "day"],
  [7, "week"],
  [31, "month"],
  [366, "year"],
] as const;

export const searxng: ProviderDialect = {
  name: "searxng",
  defaultEndpoint: null,
  pageSize: PAGE_SIZE,
  mostResults: 100,
  compile(query, now) {
    const { date_after } = query.filters;
    const lang = knownLanguage(query.filters.lang);
    const q = withoutCommands(queryText(query, { dates: false, sites: true }));
    const range = date_after === undefined ? undefined : rangeSince(date_after, now);
    const parameters = {
      q,
      ...(lang !== undefined && { language: lang }),
      ...(range !== undefined && { time_range: range }),
    };
    return {
      queryUsed: asText(parameters).replace(/^q=/, ""),
      call: ({ endpoint }, offset) => ({
        method: "GET",
        url: withQuery(`${endpoint.replace(/\/+$/, "").replace(/\/search$/, "")}/search`, {
          ...parameters,
          format: "json",
          pageno: String(1 + Math.floor(offset / PAGE_SIZE)),
        }),
        headers: {},
      }),
    };
  },
  read(answer) {
    const { results: urls, unresponsive_engines: silent } = answerSchema.parse(answer);
    if (urls.length === 0 && silent.length > 0) {
      throw new CallFailed(
        "unreadable",
        `no engine answered: ${silent.map(([engine, reason]) => `${engine} (${reason})`).join(", ")}`.slice(0, 200),
      );
    }
    return { urls, more: urls.length > 0 };
  },
  refusal: (status) => (status === 403 ? "its settings allow no JSON" : undefined),
};

/**
 * It takes each word that begins so for a command, within a phrase too: `!engine`, `!!elsewhere`, `:language`,
 * `<timeout`.
 * https://docs.searxng.org/user/search-syntax.html
 */
const withoutCommands = (text: string): string =>
  text
    .split(" ")
    .map((word) => word.replace(/^[!:<?]+/, ""))
    .filter((word) => word !== "")
    .join(" ");

/** The shortest range that reaches back to the day; none where that is longer ago than a year. */
function rangeSince(day: string, now: number): string | undefined {
  const days = Math.floor((now - Date.parse(`${day}T00:00:00Z`)) / DAY_MS);
  return RANGES.find(([most]) => days <= most)?.[1];
}
