/** Google's Custom Search JSON API. https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list */
import { z } from "zod";
import { queryText } from "../query-text.ts";
import { type ProviderDialect, results, withQuery } from "./dialect.ts";
import { countryOf, isTraditional } from "./regions.ts";

/** Without `items` there is no result, and `kind` tells that from another document. */
const answerSchema = z
  .object({
    kind: z.literal("customsearch#search").optional(),
    items: results("link").nullish(),
    queries: z.object({ nextPage: z.array(z.unknown()).nullish() }).nullish(),
  })
  .refine(({ kind, items }) => kind !== undefined || Array.isArray(items));
const reasons = z.array(z.object({ reason: z.string().nullish() })).nullish();
const errorSchema = z.object({
  error: z.object({ errors: reasons, details: reasons, status: z.string().nullish() }),
});

/** What `lr` takes, without its `lang_`; of another value Google makes an error. */
const LANGUAGES = new Set(
  (
    "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv " +
    "nl no pl pt ro ru sk sl sr sv tr zh-CN zh-TW"
  ).split(" "),
);
/** By ISO 639-1, where it has another name. */
const OTHER_NAMES: Record<string, string> = { he: "iw", nb: "no", nn: "no" };

export const google: ProviderDialect = {
  name: "google",
  defaultEndpoint: "https://www.googleapis.com/customsearch/v1",
  pageSize: 10,
  // the sum of start and num may be 100 at the most
  mostResults: 99,
  compile(query) {
    const { lang, geo } = query.filters;
    const country = countryOf(geo);
    const chinese = isTraditional(geo) ? "zh-TW" : "zh-CN";
    const language = lang === undefined ? undefined : lang === "zh" ? chinese : (OTHER_NAMES[lang] ?? lang);
    const q = queryText(query);
    return {
      queryUsed: q,
      call: ({ endpoint, apiKey, engineId }, offset, count) => ({
        method: "GET",
        url: withQuery(endpoint, {
          ...(apiKey !== null && { key: apiKey }),
          ...(engineId !== null && { cx: engineId }),
          q,
          num: String(count),
          start: String(offset + 1),
          ...(language !== undefined && LANGUAGES.has(language) && { lr: `lang_${language}` }),
          ...(country !== undefined && { gl: country.toLowerCase() }),
        }),
        headers: {},
      }),
    };
  },
  read(answer) {
    const { items, queries } = answerSchema.parse(answer);
    const urls = items ?? [];
    // without a word on what it was asked it says nothing of a next page either
    return { urls, more: queries ? (queries.nextPage?.length ?? 0) > 0 : urls.length > 0 };
  },
  refusal(status, answer) {
    const error = errorSchema.safeParse(answer).data?.error;
    const all = [...(error?.errors ?? []), ...(error?.details ?? [])].map(({ reason }) => reason ?? "");
    const text = [error?.status ?? "", ...all].join(" ");
    if (status === 429 || /quota|limit_?exceeded|RESOURCE_EXHAUSTED/i.test(text)) return "quota";
    return /key|PERMISSION_DENIED|UNAUTHENTICATED|accessNotConfigured/i.test(text) ? "auth" : undefined;
  },
};
