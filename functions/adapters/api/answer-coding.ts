/** Compresses answers for who takes that: RFC 9110, sections 8.4 and 12.5.3. */
import { pipeline, Readable } from "node:stream";
import { constants, createBrotliCompress, createGzip } from "node:zlib";

export const CODINGS = ["br", "gzip"] as const;
export type Coding = (typeof CODINGS)[number];

/** A shorter body is sent as it is. */
export const SHORTEST_COMPRESSED_BYTES = 1024;

/** What of these the `Accept-Encoding` header likes best; undefined where it likes the plain body as well or better. */
export function acceptedCoding(header: string | null | undefined): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of (header ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    if (name !== "") weights.set(name === "x-gzip" ? "gzip" : name, weightOf(parameters));
  }
  const weight = (name: string): number => weights.get(name) ?? weights.get("*") ?? 0;
  const [best] = CODINGS.toSorted((a, b) => weight(b) - weight(a));
  if (best === undefined || weight(best) === 0) return undefined;
  return weight(best) >= (weights.get("identity") ?? 0) ? best : undefined;
}

/** What is no weight counts as none being there. */
function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((text) => /^q\s*=/.test(text))?.replace(/^q\s*=\s*/, "");
  return written !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(written) ? Number(written) : 1;
}

/** Whether the length of such an answer is worth a thought: of streams each record must leave at once. */
export const isCompressible = (contentType: string | null | undefined): boolean =>
  /^application\/json\b/i.test(contentType ?? "");

/** Ends with what ends the chunks. */
export function compressed(chunks: AsyncIterable<Uint8Array>, coding: Coding): AsyncIterable<Uint8Array> {
  const coder =
    coding === "gzip" ? createGzip() : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
  return pipeline(Readable.from(chunks, { objectMode: false }), coder, () => undefined);
}

/** Smaller than gzip's, at its speed. */
const QUALITY = 4;
