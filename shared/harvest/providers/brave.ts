/**
 * Brave Search. Dates are its `freshness`. https://api-dashboard.search.brave.com/app/documentation/web-search/query
 */
import { z } from "zod";
import { lengthOf, QueryTooLong, queryText } from "../query-text.ts";
import { asText, type ProviderDialect, results, withQuery } from "./dialect.ts";
import { countryOf, isTraditional } from "./regions.ts";

/** Without `web` there is no result, and `type` tells that from another document. */
const answerSchema = z
  .object({
    type: z.literal("search").optional(),
    web: z.object({ results: results("url").nullish() }).nullish(),
    query: z.object({ more_results_available: z.boolean().nullish() }).nullish(),
  })
  .refine(({ type, web }) => type !== undefined || Array.isArray(web?.results));
const errorSchema = z.object({ error: z.object({ code: z.string() }) });

const PAGE_SIZE = 20;
/** Its own limits of `q`. */
const MAX_CHARACTERS = 400;
const MAX_WORDS = 50;
const FIRST_DAY = "1970-01-01";

const COUNTRIES = new Set(
  (
    "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ " +
    "NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
  ).split(" "),
);
/** By ISO 639-1, where Brave has another name. */
const OTHER_NAMES: Record<string, string> = { pt: "pt-pt", ja: "jp", no: "nb" };
const LANGUAGES = new Set(
  (
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en et fi fr gl de el gu he hi hu is " +
    "it jp kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru " +
    "sr sk sl es sv ta te th tr uk vi"
  ).split(" "),
);

function languageOf(lang: string | undefined, geo: string | undefined): string | undefined {
  if (lang === "zh") return isTraditional(geo) ? "zh-hant" : "zh-hans";
  if (lang === "pt" && geo === "BR") return "pt-br";
  return lang && (OTHER_NAMES[lang] ?? lang);
}

export const brave: ProviderDialect = {
  name: "brave",
  defaultEndpoint: "https://api.search.brave.com/res/v1/web/search",
  pageSize: PAGE_SIZE,
  mostResults: 200,
  compile(query, now) {
    const { lang, geo, date_after, date_before } = query.filters;
    const q = queryText(query, { dates: false, sites: true });
    const characters = lengthOf(q);
    if (characters > MAX_CHARACTERS) throw new QueryTooLong(characters, MAX_CHARACTERS);
    const words = q.split(" ").length;
    if (words > MAX_WORDS) throw new QueryTooLong(words, MAX_WORDS, "words");
    const language = languageOf(lang, geo);
    const country = countryOf(geo) ?? "";
    const from = date_after ?? FIRST_DAY;
    const today = new Date(now).toISOString().slice(0, 10);
    const [last = today] = [from, today].sort().reverse();
    const parameters = {
      q,
      ...((date_after !== undefined || date_before !== undefined) && {
        freshness: `${from}to${date_before ?? last}`,
      }),
      // left out it would be the United States
      ...(geo !== undefined && { country: COUNTRIES.has(country) ? country : "ALL" }),
      ...(language !== undefined && LANGUAGES.has(language) && { search_lang: language }),
    };
    return {
      queryUsed: asText(parameters).replace(/^q=/, ""),
      call: ({ endpoint, apiKey }, offset, count) => ({
        method: "GET",
        // it counts pages
        url: withQuery(endpoint, {
          ...parameters,
          count: String(offset === 0 ? count : PAGE_SIZE),
          offset: String(Math.floor(offset / PAGE_SIZE)),
        }),
        headers: apiKey === null ? {} : { "x-subscription-token": apiKey },
      }),
    };
  },
  read(answer) {
    const { web, query } = answerSchema.parse(answer);
    const urls = web?.results ?? [];
    return { urls, more: query?.more_results_available ?? urls.length > 0 };
  },
  refusal(status, answer) {
    const code = errorSchema.safeParse(answer).data?.error.code ?? "";
    if (status === 402 || status === 429 || /^(QUOTA|RATE)_LIMITED$/.test(code)) return "quota";
    // an unknown key is answered with 422
    return status === 401 || status === 403 || code.startsWith("SUBSCRIPTION_TOKEN") ? "auth" : undefined;
  },
};
