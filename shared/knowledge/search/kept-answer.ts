/** An answer of a search as bytes that containers of the same or another release read. */
import { z } from "zod";
import { FACETS } from "./facets.ts";
import type { SearchAnswer } from "./search-request.ts";

/** Another one where the same bytes would be read as another answer. */
export const ANSWER_FORMAT = 2;

const scored = { chunkId: z.string(), score: z.number() };
const duplicate = z.object({ ...scored, similarity: z.number() });
const page = { documentId: z.string(), url: z.string(), title: z.string().nullable() };

const resultSchema = z.object({
  ...scored,
  ...page,
  vectorScore: z.number().nullable(),
  keywordScore: z.number().nullable(),
  vectorRank: z.number().nullable(),
  keywordRank: z.number().nullable(),
  source: z.enum(["vector", "keyword", "fused"]),
  rerankScore: z.number().exactOptional(),
  collapsed: z.array(duplicate).exactOptional(),
  content: z.string(),
  sectionHeader: z.string().nullable(),
  highlights: z.array(z.tuple([z.number(), z.number()])),
  beside: z.array(z.string()),
  duplicates: z.array(duplicate.extend(page)),
  section: z
    .object({ position: z.number(), level: z.number(), heading: z.string().nullable(), path: z.array(z.string()) })
    .nullable(),
});

const facetValues = z.array(z.object({ value: z.string().nullable(), count: z.number() }));

/** Only whole answers are kept: none lacks a side. */
const answerSchema = z.object({
  results: z.array(resultSchema),
  missing: z.tuple([]),
  fusion: z
    .object({
      method: z.enum(["linear", "rrf"]),
      weights: z.object({ vector: z.number(), keyword: z.number() }),
      rankConstant: z.number().exactOptional(),
    })
    .nullable(),
  version: z.string(),
  total: z.object({ count: z.number(), exact: z.boolean() }),
  facets: z
    .object({
      counted: z.number(),
      exact: z.boolean(),
      values: z.partialRecord(z.enum(FACETS), facetValues),
    })
    .nullable(),
  queryRemembered: z.boolean(),
  next: z.string().nullable(),
}) satisfies z.ZodType<SearchAnswer>;

export function encodeAnswer(answer: SearchAnswer): Uint8Array {
  return Buffer.from(JSON.stringify(answer));
}

/** @throws ZodError, SyntaxError where it is no answer */
export function decodeAnswer(bytes: Uint8Array): SearchAnswer {
  return answerSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
}
