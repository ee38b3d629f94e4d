/**
 * What search providers differ in: how a query is written for them, how much they give at once, and where the URLs
 * stand.
 */
import { z } from "zod";
import type { JsonRequest } from "../../platform/json-client.ts";
import type { ExpandedQuery } from "../expansion.ts";

export interface ProviderAccess {
  /** Base or whole address of the API, as the provider's documentation has it. */
  endpoint: string;
  /** Null: the provider needs none. */
  apiKey: string | null;
  /** Of Google: the id of the search engine. */
  engineId: string | null;
}

export interface CompiledQuery {
  /** What the provider is asked, for the log and the answer: never with a key. */
  queryUsed: string;
  /** The request for the results from `offset` (0: the first), `count` of them. */
  call(access: ProviderAccess, offset: number, count: number): JsonRequest;
}

export interface ProviderPage {
  /** Best first, as returned. */
  urls: string[];
  /** False where the provider says that there are no more. */
  more: boolean;
}

export interface ProviderDialect {
  name: string;
  defaultEndpoint: string | null;
  /** Results of one request, and of all requests for one query, at the most. */
  pageSize: number;
  mostResults: number;
  /**
   * @param now epoch ms
   * @throws QueryTooLong
   */
  compile(query: ExpandedQuery, now: number): CompiledQuery;
  /**
   * @throws ZodError where the answer has another shape; CallFailed where it names a fault, though its status is 200
   */
  read(answer: unknown): ProviderPage;
  /** What a refusal says beyond its status, in a word: `quota`, `auth`. */
  refusal?(status: number, answer: unknown): string | undefined;
}

/**
 * The URLs of a list of results, by the name of their field. A result without one is no page; a list of such is no
 * list.
 */
export const results = (field: string) =>
  z.array(z.unknown()).transform((list, context) => {
    const urls = list.flatMap((each) => {
      const url = resultSchema.safeParse(each).data?.[field];
      return typeof url === "string" ? [url] : [];
    });
    if (list.length > 0 && urls.length === 0) context.addIssue({ code: "custom", message: `no result has ${field}` });
    return urls;
  });
const resultSchema = z.record(z.string(), z.unknown());

/** The parameters as they would stand in an address, with the values readable. */
export const asText = (parameters: Record<string, string>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

export function withQuery(endpoint: string, parameters: Record<string, string>): URL {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}
