/**
 * Common Crawl's index server: which pages of a site its newest crawl has. Answers as pywb documents them
 * (https://pywb.readthedocs.io/en/latest/manual/cdxserver_api.html): JSON lines by pages, 404 where there are no
 * captures, 503 or 429 where one asks too fast.
 */
import { z } from "zod";
import { type HttpResponse, headerValue } from "../http/exchange.ts";
import type { Fetched } from "./fetcher.ts";
import { MAX_LIST_BYTES } from "./list-reader.ts";
import { decoded } from "./list-text.ts";
import type { Site } from "./site.ts";
import { ListCut, unpacked } from "./unpack.ts";
import type { SourceContext, SourceFault, UrlSource } from "./url-source.ts";

/** Newest first. */
const collectionsSchema = z.array(z.looseObject({ id: z.string(), "cdx-api": z.url({ protocol: /^https?$/ }) })).min(1);
/** A bare number where the server does not know `output=json` here. */
const pagesSchema = z.union([
  z.looseObject({ pages: z.int().nonnegative() }),
  z
    .int()
    .nonnegative()
    .transform((pages) => ({ pages })),
]);
const captureSchema = z.looseObject({ url: z.string(), status: z.string().optional(), mime: z.string().optional() });

/** Requests a second, of all workers together: the whole world shares the server. */
export const COMMON_CRAWL_RPS = 1;
const TRIES = 4;
/** Of one discovery; a page holds some 15,000 captures. */
const MOST_PAGES = 50;
const LONGEST_LINE = 64 * 1024;
const ACCEPT = "application/json,text/x-ndjson,*/*;q=0.5";

/** @param endpoint `COMMON_CRAWL__URL` */
export function createCommonCrawl(endpoint: string): UrlSource {
  return {
    async collect(context) {
      const get = (url: URL): Promise<Fetched> =>
        context.fetcher.get(url, { accept: ACCEPT, robots: "api", tries: TRIES });
      const collinfo = new URL("collinfo.json", endpoint.endsWith("/") ? endpoint : `${endpoint}/`);
      const listed = await get(collinfo);
      if (listed.fault !== null) return unavailable(listed.fault.message);
      const collections = collectionsSchema.safeParse(await readJson(listed.response));
      if (!collections.success) return unavailable(`${collinfo.href} does not list its indexes`);
      const [newest] = collections.data;
      const query = queryOf(newest?.["cdx-api"] ?? "", context.site);

      const counted = await get(withParameters(query, { showNumPages: "true" }));
      const unknown = (): null => {
        context.notes.add(query.origin, "NO_CAPTURES", `${newest?.id} has no page of the site`);
        return null;
      };
      if (counted.fault !== null) return counted.status === 404 ? unknown() : unavailable(counted.fault.message);
      const count = pagesSchema.safeParse(await readJson(counted.response));
      if (!count.success) return unavailable("The index does not say how many pages its answer has");
      const { pages } = count.data;
      if (pages > MOST_PAGES) {
        const message = `The index has ${pages} pages of captures: the first ${MOST_PAGES} are read`;
        context.notes.add(query.origin, "TOO_MANY_PAGES", message);
      }
      const { captures, fault } = await readPages(context, query, Math.min(pages, MOST_PAGES), get);
      return captures === 0 && fault === null ? unknown() : fault;
    },
  };
}

/** @returns captures seen; a fault where no page could be read */
async function readPages(
  context: SourceContext,
  query: URL,
  pages: number,
  get: (url: URL) => Promise<Fetched>,
): Promise<{ captures: number; fault: SourceFault | null }> {
  const { collector, notes } = context;
  let fault: SourceFault | null = null;
  let [read, captures] = [0, 0];
  for (let page = 0; page < pages && !collector.full; page += 1) {
    const fetched = await get(withParameters(query, { page: String(page) }));
    if (fetched.fault === null) {
      captures += await offerLines(context, fetched.response, query.origin);
      read += 1;
    } else if (fetched.status === 404) {
      // the filters left nothing of this page
      read += 1;
    } else {
      fault = unavailable(fetched.fault.message);
      notes.add(query.origin, fetched.fault.code, `Page ${page} of ${pages}: ${fetched.fault.message}`);
      break;
    }
  }
  return { captures, fault: read === 0 ? fault : null };
}

/** Captures of the site that were pages. */
function queryOf(cdxApi: string, { hostname, port }: Site): URL {
  const url = new URL(cdxApi);
  // a host's captures, with those of its subdomains unless a port names one server
  url.searchParams.set("url", port === null ? `*.${hostname}` : `${hostname}:${port}/*`);
  url.searchParams.set("output", "json");
  url.searchParams.set("fl", "url,status,mime");
  url.searchParams.append("filter", "=status:200");
  url.searchParams.append("filter", "~mime:(text/html|application/xhtml)");
  return url;
}

function withParameters(query: URL, parameters: Record<string, string>): URL {
  const url = new URL(query);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

const unavailable = (message: string): SourceFault => ({ code: "COMMON_CRAWL_UNAVAILABLE", message });

const PAGE_TYPE = /html/i;

/** @returns lines that there were */
async function offerLines(
  { collector, notes }: SourceContext,
  response: HttpResponse,
  origin: string,
): Promise<number> {
  let lines = 0;
  try {
    for await (const line of linesOf(response)) {
      if (collector.full) return lines;
      lines += 1;
      const capture = captureSchema.safeParse(parseJson(line));
      if (!capture.success) {
        notes.count(origin, "LINE_INVALID", "Lines of the index that are no captures");
        continue;
      }
      const { url, status = "200", mime = "text/html" } = capture.data;
      if (status !== "200" || !PAGE_TYPE.test(mime)) continue;
      const refusal = collector.offer({ url, lastmod: null, title: null, source: "common_crawl", foundIn: origin });
      if (refusal === "URL_INVALID" || refusal === "WRONG_HOST" || refusal === "URL_BLOCKED") {
        notes.count(origin, refusal, "Captures whose URLs are refused");
      }
    }
  } catch (error) {
    if (!(error instanceof ListCut)) throw error;
    notes.add(origin, error.code, error.message);
  }
  return lines;
}

async function* linesOf(response: HttpResponse): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textOf(response)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) throw new ListCut("TOO_LARGE", "A line of the index is too long");
    for (const line of lines) if (line.trim() !== "") yield line;
  }
  if (rest.trim() !== "" && response.truncated === null) yield rest;
}

const textOf = ({ body, headers }: HttpResponse): AsyncGenerator<string> =>
  decoded(unpacked(body, headerValue(headers, "content-encoding"), MAX_LIST_BYTES), undefined);

/** The document, or undefined where it is no JSON. */
async function readJson(response: HttpResponse): Promise<unknown> {
  let text = "";
  try {
    for await (const piece of textOf(response)) text += piece;
  } catch (error) {
    if (!(error instanceof ListCut)) throw error;
  }
  return parseJson(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
