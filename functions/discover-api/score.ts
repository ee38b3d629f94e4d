/** The route that scores URLs by their relevance for a query, without a look at their pages. */
import { z } from "zod";
import { keywordsOf, relevanceOf, TITLE_WEIGHT, urlFields } from "../../shared/crawl/urls/relevance.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DiscoverApi } from "./dependencies.ts";
import { scoreQuerySchema } from "./jobs.ts";

const MAX_URLS = 10_000;

const scoredUrl = z.union([
  z.string().min(1).max(8_192),
  z.strictObject({ url: z.string().min(1).max(8_192), title: z.string().max(4_096).optional() }),
]);

export const scoreUrls = defineRoute(
  {
    method: "POST",
    path: "/api/v1/discover/score",
    scope: "read",
    summary: "Score URLs, with their titles where they are known, by their relevance for a query",
    body: z.strictObject({
      urls: z.array(scoredUrl).min(1).max(MAX_URLS),
      query: scoreQuerySchema,
      /** URLs that score less are left out. */
      score_threshold: z.number().min(0).max(1).default(0),
    }),
    response: z.object({
      /** What the URLs were scored by. */
      keywords: z.array(z.string()),
      /** In the order of the request. */
      results: z.array(
        z.object({
          url: z.string(),
          /** 0 to 1; null where `code` says what is wrong with the URL. */
          score: z.number().nullable(),
          code: z.enum(["URL_INVALID"]).nullable(),
        }),
      ),
    }),
  },
  async ({ body: { urls, query, score_threshold } }, _dependencies: DiscoverApi) => {
    const keywords = keywordsOf(query);
    const results = urls.map((each) => scored(typeof each === "string" ? { url: each } : each, keywords));
    return { keywords, results: results.filter(({ score }) => score === null || score >= score_threshold) };
  },
);

function scored({ url, title }: { url: string; title?: string | undefined }, keywords: readonly string[]) {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return { url, score: null, code: "URL_INVALID" as const };
  const fields = [...urlFields(parsed), ...(title === undefined ? [] : [{ text: title, weight: TITLE_WEIGHT }])];
  return { url, score: Math.round(relevanceOf(keywords, fields) * 10_000) / 10_000, code: null };
}
