/** One list of URLs, from the bytes of its answer to its entries. */

import { type HttpResponse, headerValue } from "../http/exchange.ts";
import { parseMediaType } from "../http/media-type.ts";
import { createListParser } from "./list-parser.ts";
import { decoded } from "./list-text.ts";
import type { ListSink, ParsedList } from "./parsed-list.ts";
import { ListCut, unpacked } from "./unpack.ts";

/** https://www.sitemaps.org/protocol.html: 50 MB, packed or not. */
export const MAX_LIST_BYTES = 50 * 1024 * 1024;

export interface ReadList extends ParsedList {
  /** Why it ends before its end; null where it does not, as far as is known. */
  cut: { code: ListCut["code"]; message: string } | null;
}

/**
 * Nothing is thrown for what a list holds.
 * @param document its address, for what it says relative to that
 * @param enough asked between pieces: true ends the reading
 */
export async function readList(
  { body, headers, truncated }: HttpResponse,
  sink: ListSink,
  { document, enough = () => false }: { document?: URL; enough?: () => boolean } = {},
): Promise<ReadList> {
  const parser = createListParser(sink, document);
  const { charset } = parseMediaType(headerValue(headers, "content-type"));
  let cut: ReadList["cut"] =
    truncated === null ? null : { code: truncated === "length" ? "TOO_LARGE" : "TRUNCATED", message: CUT[truncated] };
  try {
    for await (const text of decoded(
      unpacked(body, headerValue(headers, "content-encoding"), MAX_LIST_BYTES),
      charset,
    )) {
      parser.write(text);
      if (parser.done || enough()) break;
    }
  } catch (error) {
    if (!(error instanceof ListCut)) throw error;
    const { code, message } = error;
    // an answer that was cut also ends its packing early
    cut ??= { code, message };
  }
  const parsed = parser.end(cut !== null);
  if (
    cut === null &&
    !parsed.complete &&
    !enough() &&
    (parsed.kind === "sitemap" || parsed.kind === "index" || parsed.kind === "feed")
  ) {
    cut = { code: "TRUNCATED", message: "The document ends before its end" };
  }
  return { ...parsed, cut };
}

const CUT = {
  length: `It holds more than ${MAX_LIST_BYTES} bytes: what comes first was read`,
  time: "It took too long: what came in time was read",
  disconnect: "The server hung up: what came before was read",
};
