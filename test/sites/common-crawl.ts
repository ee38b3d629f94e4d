/**
 * A double of Common Crawl's index server, with the answers that it and pywb document: collinfo.json, JSON lines by
 * pages, `showNumPages`, 404 without captures, 400 beyond the last page, 503 for those who ask too fast.
 */
import type { IncomingMessage } from "node:http";
import { type Route, type Site, type SiteAnswer, startSite } from "./site.ts";

export interface IndexedCapture {
  url: string;
  status?: string;
  mime?: string;
}

export interface CommonCrawlDouble extends Site {
  /** Queries of the index, in order. */
  queries(): URLSearchParams[];
  /** What the next requests of a query get instead of their answer. */
  interrupt(...answers: SiteAnswer[]): void;
}

const INDEX = "/CC-MAIN-2026-46-index";

/** @param pages of the answer to every query; filters are applied as the server does, after the paging */
export async function commonCrawlDouble(pages: readonly (readonly IndexedCapture[])[]): Promise<CommonCrawlDouble> {
  const interruptions: SiteAnswer[] = [];
  const site = await startSite();
  const collection = (id: string) => ({
    id,
    name: `${id} Index`,
    timegate: `${site.origin}/${id}/`,
    "cdx-api": `${site.origin}/${id}-index`,
    from: "2026-11-05T00:00:00",
    to: "2026-11-19T00:00:00",
  });
  const query = (request: IncomingMessage): SiteAnswer => {
    const interruption = interruptions.shift();
    return interruption ?? answer(new URL(request.url ?? "", site.origin).searchParams, pages);
  };
  site.route({
    "/robots.txt": { headers: { "Content-Type": "text/plain" }, body: "User-agent: *\nDisallow: /" },
    "/collinfo.json": json([collection("CC-MAIN-2026-46"), collection("CC-MAIN-2026-42")]),
    [INDEX]: query,
  });
  return Object.assign(site, {
    queries: () =>
      site.requests
        .filter(({ path }) => path.startsWith(INDEX))
        .map(({ path }) => new URL(path, site.origin).searchParams),
    interrupt: (...answers: SiteAnswer[]) => void interruptions.push(...answers),
  });
}

function answer(parameters: URLSearchParams, pages: readonly (readonly IndexedCapture[])[]): SiteAnswer {
  const url = parameters.get("url");
  if (url === null) return json({ message: 'The "url" param is required' }, 400);
  if (pages.length === 0) return noCaptures(url);
  if (parameters.get("showNumPages") === "true")
    return json({ pages: pages.length, pageSize: 5, blocks: pages.length * 5 });
  const page = pages[Number(parameters.get("page") ?? 0)];
  if (page === undefined) return json({ message: `Page ${parameters.get("page")} invalid: First Page is 0` }, 400);
  const filters = parameters.getAll("filter");
  const lines = page
    .map(({ url, status = "200", mime = "text/html" }) => ({ url, status, mime }))
    .filter((capture) => filters.every((filter) => passes(capture, filter)));
  if (lines.length === 0) return noCaptures(url);
  return {
    headers: { "Content-Type": "text/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  };
}

/** `=field:text` is equality, `~field:expression` a match at the start. */
function passes(capture: Record<string, string>, filter: string): boolean {
  const [, kind = "", field = "", expected = ""] = /^([=~]?)(\w+):(.*)$/s.exec(filter) ?? [];
  const value = capture[field] ?? "";
  if (kind === "=") return value === expected;
  return kind === "~" ? new RegExp(`^(?:${expected})`).test(value) : value.includes(expected);
}

const noCaptures = (url: string): SiteAnswer => json({ message: `No Captures found for: ${url}` }, 404);

const json = (body: unknown, status = 200): SiteAnswer & Route => ({
  status,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
