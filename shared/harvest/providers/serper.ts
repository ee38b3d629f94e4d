/** Serper: Google's results. `POST /search {q, num, page, gl, hl}`. https://serper.dev */
import { z } from "zod";
import { queryText } from "../query-text.ts";
import { type ProviderDialect, results } from "./dialect.ts";
import { countryOf, isTraditional, knownLanguage } from "./regions.ts";

const answerSchema = z.object({ organic: results("link") });

/** It counts pages of the size that a request asks for: a second page is there only where the first was a whole one. */
const PAGE_SIZE = 10;

export const serper: ProviderDialect = {
  name: "serper",
  defaultEndpoint: "https://google.serper.dev/search",
  pageSize: PAGE_SIZE,
  mostResults: 100,
  compile(query) {
    const { lang, geo } = query.filters;
    const country = countryOf(geo);
    const language = lang === "zh" ? (isTraditional(geo) ? "zh-tw" : "zh-cn") : knownLanguage(lang);
    const q = queryText(query);
    return {
      queryUsed: q,
      call: ({ endpoint, apiKey }, offset, count) => ({
        method: "POST",
        url: new URL(endpoint),
        headers: apiKey === null ? {} : { "x-api-key": apiKey },
        body: {
          q,
          num: offset === 0 ? count : PAGE_SIZE,
          page: 1 + Math.floor(offset / PAGE_SIZE),
          ...(country !== undefined && { gl: country.toLowerCase() }),
          ...(language !== undefined && { hl: language }),
        },
      }),
    };
  },
  read(answer) {
    const { organic } = answerSchema.parse(answer);
    return { urls: organic, more: organic.length > 0 };
  },
  refusal: (status, answer) =>
    status === 400 && /credit/i.test(JSON.stringify(answer)) ? "quota" : status === 403 ? "auth" : undefined,
};
