/** Google's Custom Search JSON API. https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list */
import { z } from "zod";
import { queryText } from "../query-text.ts";
import { type ProviderDialect, results, withQuery } from "./dialect.ts";
import { countryOf } from "./regions.ts";

/** Without `kind` it is another document; without `items` there is no result. */
const answerSchema = z.object({
  kind: z.literal("customsearch#search"),
  items: results("link").default([]),
  queries: z.object({ nextPage: z.array(z.unknown()).optional() }).optional(),
});
const errorSchema = z.object({
  error: z.object({ errors: z.array(z.object({ reason: z.string() })).default([]), status: z.string().optional() }),
});

/** What `lr` takes, without its `lang_`; of another value Google makes an error. */
const LANGUAGES = new Set(
  "ar bg ca cs da de el en es et fi fr hr hu id is it iw ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh-CN zh-TW".split(
    " ",
  ),
);
/** By ISO 639-1, where it has another name. */
const OTHER_NAMES: Record<string, string> = { zh: "zh-CN", he: "iw", nb: "no", nn: "no" };

export const google: ProviderDialect = {
  name: "google",
  defaultEndpoint: "https://www.googleapis.com/customsearch/v1",
  pageSize: 10,
  mostResults: 100,
  compile(query) {
    const { lang, geo } = query.filters;
    const country = countryOf(geo);
    const language = lang === undefined ? undefined : (OTHER_NAMES[lang] ?? lang);
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
    return { urls: items, more: (queries?.nextPage?.length ?? 0) > 0 };
  },
  refusal(status, answer) {
    const error = errorSchema.safeParse(answer).data?.error;
    const reasons = [error?.status ?? "", ...(error?.errors ?? []).map(({ reason }) => reason)].join(" ");
    if (status === 429 || /quota|limitExceeded|RESOURCE_EXHAUSTED/i.test(reasons)) return "quota";
    return /key|PERMISSION_DENIED|UNAUTHENTICATED|accessNotConfigured/i.test(reasons) ? "auth" : undefined;
  },
};
