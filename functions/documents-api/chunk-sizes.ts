/** The routes of chunk sizes: which one answers, how far a change of all documents is, pausing it, and going back. */
import { z } from "zod";
import {
  listChunkSizes,
  pauseChunkSize,
  type StoredChunkSize,
  useChunkSize,
} from "../../shared/library/chunk-sizes.ts";
import { defineRoute } from "../adapters/api/route.ts";
import type { DocumentsApi } from "./dependencies.ts";

const sizesSchema = z.object({
  /** The one that answers searches first. */
  items: z.array(
    z.object({
      /** In tokens; null: each document by the settings that it was crawled or uploaded with. */
      chunk_size: z.int().nullable(),
      /** `serving`: it answers; `coming`: documents are cut to it; `leaving`: it is kept for a day. */
      state: z.enum(["serving", "coming", "leaving"]),
      paused: z.boolean(),
      changed_at: z.iso.datetime(),
      /** That can be found and are cut to it. */
      documents: z.int(),
      /** That can be found and are not cut to it yet. */
      uncut: z.int(),
      chunks: z.int(),
      /** Chunks that wait for their vector. */
      waiting: z.int(),
    }),
  ),
});

const sizesJson = (sizes: readonly StoredChunkSize[]): z.output<typeof sizesSchema> => ({
  items: sizes.map((each) => ({ ...each, changed_at: each.changed_at.toISOString() })),
});

const list = defineRoute(
  {
    method: "GET",
    path: "/api/v1/documents/chunk-sizes",
    scope: "read",
    summary: "The chunk sizes that documents are cut to, and how far a change to another one is",
    response: sizesSchema,
  },
  async (_, { sql }: DocumentsApi) => sizesJson(await listChunkSizes(sql)),
);

const change = defineRoute(
  {
    method: "POST",
    path: "/api/v1/documents/chunk-sizes",
    scope: "admin",
    summary: "Cut all documents to another chunk size in the background, pause that, or go back to a size that is kept",
    body: z
      .strictObject({
        /** In tokens; null: each document by the settings that it was crawled or uploaded with. */
        chunk_size: z.int().min(24).max(8192).nullable().optional(),
        paused: z.boolean().optional(),
      })
      .refine(({ chunk_size, paused }) => (chunk_size === undefined) !== (paused === undefined), {
        path: ["chunk_size"],
        message: "give either chunk_size or paused",
      })
      .meta({ oneOf: [{ required: ["chunk_size"] }, { required: ["paused"] }] }),
    response: sizesSchema,
  },
  async ({ body: { chunk_size, paused } }, { sql, maxTokens, flags }: DocumentsApi) => {
    // the sweep goes on with a change
    await flags.markActive();
    if (chunk_size !== undefined) await useChunkSize(sql, chunk_size, maxTokens);
    if (paused !== undefined) await pauseChunkSize(sql, paused);
    return sizesJson(await listChunkSizes(sql));
  },
);

export const chunkSizeRoutes = [list, change];
