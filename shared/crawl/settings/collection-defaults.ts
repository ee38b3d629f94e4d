/** What a collection says of its documents where whoever fills it leaves it open. */
import { z } from "zod";
import { type CrawlConfig, crawlConfigSchema } from "./crawl-config.ts";

const { chunk_size, chunk_overlap, min_chunk_size, languages } = crawlConfigSchema.shape;

/** As those of a crawl's settings; and the language that a document has of which nobody can tell it. */
export const collectionDefaultFields = {
  chunk_size: chunk_size.unwrap(),
  chunk_overlap: chunk_overlap.unwrap(),
  min_chunk_size: min_chunk_size.unwrap(),
  languages: languages.unwrap(),
  language: z.string().regex(/^[a-z]{2}$/, "an ISO 639-1 code, such as en"),
};

export interface CollectionDefaults
  extends Partial<Pick<CrawlConfig, "chunk_size" | "chunk_overlap" | "min_chunk_size">> {
  /** As `CrawlConfig` has them. */
  languages?: string[];
  /** ISO 639-1. */
  language?: string;
}

/**
 * Settings with what the collection says of all that they leave open. Where they name a size of chunks, its own sizes
 * do not count: an overlap is for the size that it was chosen for.
 */
export function withCollectionDefaults(
  settings: Partial<CrawlConfig>,
  { language: _, ...defaults }: CollectionDefaults,
): Partial<CrawlConfig> {
  if (settings.chunk_size === undefined) return { ...defaults, ...settings };
  return { ...(defaults.languages && { languages: defaults.languages }), ...settings };
}
